#include "tessera_js/ops.h"

#include <map>

namespace tessera::js {
namespace {

using nlohmann::json;
using Results = std::vector<Tensor>;
using Run = Results (*)(const Call&);

[[noreturn]] void refuse(ErrorCode code, const std::string& text) { throw Error(code, text); }

const Tensor& tensor_at(const Call& call, std::size_t i) {
  if (i >= call.tensors.size() || call.tensors[i].is_empty())
    refuse(ErrorCode::invalid_argument, "operand " + std::to_string(i + 1) + " has to be a tensor.");
  return call.tensors[i];
}

template <class T>
T option(const Call& call, const char* name, T otherwise) {
  const auto value = call.options.find(name);
  if (value == call.options.end() || value->is_null()) return otherwise;
  try {
    return value->get<T>();
  } catch (const json::exception&) {
    refuse(ErrorCode::invalid_argument, std::string("the option ") + name + " cannot be " + value->dump() + ".");
  }
}
template <class T>
T needed(const Call& call, const char* name) {
  if (!call.options.contains(name))
    refuse(ErrorCode::invalid_argument, std::string("the option ") + name + " is missing.");
  return option<T>(call, name, {});
}
// One of some names, in the order of an enumeration.
template <class Enum>
Enum choice(const Call& call, const char* name, std::initializer_list<const char*> names, Enum otherwise) {
  const auto chosen = option<std::string>(call, name, "");
  if (chosen.empty()) return otherwise;
  std::string all;
  int index = 0;
  for (const char* known : names) {
    if (chosen == known) return static_cast<Enum>(index);
    all += (all.empty() ? "" : ", ") + std::string(known);
    ++index;
  }
  refuse(ErrorCode::invalid_argument,
         std::string("the option ") + name + " is '" + chosen + "'; there are " + all + ".");
}

using Integers = std::vector<std::int64_t>;

template <Tensor (*function)(const Tensor&)>
Results unary(const Call& call) {
  return {function(tensor_at(call, 0))};
}
template <class Work>
Results binary(const Call& call, const Work& work) {
  if (call.tensors.size() != 2) refuse(ErrorCode::invalid_argument, "two operands are needed.");
  if (call.tensors[1].is_empty()) return {work(tensor_at(call, 0), call.numbers[1])};
  if (call.tensors[0].is_empty()) return {work(call.numbers[0], call.tensors[1])};
  return {work(call.tensors[0], call.tensors[1])};
}
template <Tensor (*function)(const Tensor&, const Tensor&)>
Results of_tensors(const Call& call) {
  return {function(tensor_at(call, 0), tensor_at(call, 1))};
}
template <Tensor (*function)(const Tensor&, const Reduce&)>
Results reduction(const Call& call) {
  return {function(tensor_at(call, 0),
                   {.axes = option<std::vector<int>>(call, "axes", {}), .keep_dims = option(call, "keepDims", false)})};
}
template <Tensor (*function)(const Tensor&, int, bool)>
Results along_axis(const Call& call, const char* flag) {
  return {function(tensor_at(call, 0), option(call, "axis", -1), option(call, flag, false))};
}

Pooling pooling_of(const Call& call) {
  return {.size = needed<Integers>(call, "size"),
          .strides = option<Integers>(call, "strides", {}),
          .dilations = option<Integers>(call, "dilations", {}),
          .padding = choice(call, "padding", {"valid", "same"}, Padding::valid),
          .pads = option<Integers>(call, "pads", {}),
          .counts_padding = option(call, "countsPadding", false)};
}
template <class Convolution>
Convolution convolution_of(const Call& call) {
  Convolution options;
  options.strides = option(call, "strides", options.strides);
  options.dilations = option(call, "dilations", options.dilations);
  options.padding = choice(call, "padding", {"valid", "same"}, Padding::valid);
  options.groups = option(call, "groups", options.groups);
  if (call.options.contains("pads")) options.pads = needed<std::array<std::int64_t, 4>>(call, "pads");
  return options;
}

std::vector<PadWidth> pad_widths(const Call& call) {
  std::vector<PadWidth> widths;
  for (const auto& [before, after] : needed<std::vector<std::pair<std::int64_t, std::int64_t>>>(call, "padding"))
    widths.push_back({before, after});
  return widths;
}
RowNorm row_norm(const Call& call) {
  RowNorm norm{.begin_axis = option(call, "beginAxis", -1), .epsilon = option(call, "epsilon", 1e-5f)};
  if (call.tensors.size() > 1) norm.gamma = tensor_at(call, 1);
  if (call.tensors.size() > 2) norm.beta = tensor_at(call, 2);
  return norm;
}
Border border_of(const Call& call) { return choice(call, "border", {"zero", "edge", "reflect"}, Border::reflect); }

#define UNARY(name) \
  { #name, unary < tessera::name> }
// An operator or a function of two operands, either of which may be a number.
#define BINARY(name, expression)                                                                                 \
  {                                                                                                              \
    name, [](const Call& call) { return binary(call, [](const auto& a, const auto& b) { return expression; }); } \
  }

const std::map<std::string, Run>& ops() {
  static const std::map<std::string, Run> all{
      BINARY("add", a + b),
      BINARY("sub", a - b),
      BINARY("mul", a * b),
      BINARY("div", a / b),
      BINARY("pow", pow(a, b)),
      BINARY("minimum", minimum(a, b)),
      BINARY("maximum", maximum(a, b)),
      BINARY("equal", a == b),
      BINARY("notEqual", a != b),
      BINARY("less", a < b),
      BINARY("lessEqual", a <= b),
      BINARY("greater", a > b),
      BINARY("greaterEqual", a >= b),
      {"logicalAnd", of_tensors<logical_and>},
      {"logicalOr", of_tensors<logical_or>},
      {"logicalNot", unary<logical_not>},
      UNARY(neg),
      UNARY(abs),
      UNARY(sign),
      UNARY(square),
      UNARY(sqrt),
      UNARY(rsqrt),
      UNARY(exp),
      UNARY(log),
      UNARY(floor),
      UNARY(ceil),
      UNARY(round),
      UNARY(sin),
      UNARY(cos),
      UNARY(tanh),
      UNARY(erf),
      UNARY(sigmoid),
      UNARY(relu),
      UNARY(relu6),
      UNARY(gelu),
      UNARY(silu),
      UNARY(softplus),
      UNARY(flatten),
      {"leakyRelu", [](const Call& c) { return Results{leaky_relu(tensor_at(c, 0), option(c, "slope", 0.2f))}; }},
      {"clip",
       [](const Call& c) {
         return Results{clip(tensor_at(c, 0), needed<double>(c, "low"), needed<double>(c, "high"))};
       }},
      {"where", [](const Call& c) { return Results{where(tensor_at(c, 0), tensor_at(c, 1), tensor_at(c, 2))}; }},
      {"cast",
       [](const Call& c) { return Results{tensor_at(c, 0).cast(dtype_named(needed<std::string>(c, "dtype")))}; }},

      {"sum", reduction<sum>},
      {"mean", reduction<mean>},
      {"prod", reduction<prod>},
      {"max", reduction<max>},
      {"min", reduction<min>},
      {"argmax", [](const Call& c) { return along_axis<argmax>(c, "keepDims"); }},
      {"argmin", [](const Call& c) { return along_axis<argmin>(c, "keepDims"); }},
      {"sort", [](const Call& c) { return along_axis<sort>(c, "descending"); }},
      {"argsort", [](const Call& c) { return along_axis<argsort>(c, "descending"); }},
      {"cumsum", [](const Call& c) { return Results{cumsum(tensor_at(c, 0), option(c, "axis", -1))}; }},
      {"topK",
       [](const Call& c) {
         const TopK top = top_k(tensor_at(c, 0), needed<std::int64_t>(c, "k"), option(c, "axis", -1));
         return Results{top.values, top.indices};
       }},

      {"matmul",
       [](const Call& c) {
         return Results{
             matmul(tensor_at(c, 0), tensor_at(c, 1),
                    {.transpose_a = option(c, "transposeA", false), .transpose_b = option(c, "transposeB", false)})};
       }},
      {"conv2d",
       [](const Call& c) { return Results{conv2d(tensor_at(c, 0), tensor_at(c, 1), convolution_of<Conv2d>(c))}; }},
      {"conv2dTranspose",
       [](const Call& c) {
         return Results{conv2d_transpose(tensor_at(c, 0), tensor_at(c, 1), convolution_of<Conv2dTranspose>(c))};
       }},
      {"maxPool", [](const Call& c) { return Results{max_pool(tensor_at(c, 0), pooling_of(c))}; }},
      {"averagePool", [](const Call& c) { return Results{average_pool(tensor_at(c, 0), pooling_of(c))}; }},
      {"softmax", [](const Call& c) { return Results{softmax(tensor_at(c, 0), option(c, "axis", -1))}; }},
      {"logSoftmax", [](const Call& c) { return Results{log_softmax(tensor_at(c, 0), option(c, "axis", -1))}; }},
      {"layerNorm", [](const Call& c) { return Results{layer_norm(tensor_at(c, 0), row_norm(c))}; }},
      {"rmsNorm", [](const Call& c) { return Results{rms_norm(tensor_at(c, 0), row_norm(c))}; }},

      {"reshape", [](const Call& c) { return Results{tensor_at(c, 0).reshape(shape_of(needed<json>(c, "shape")))}; }},
      {"broadcastTo",
       [](const Call& c) { return Results{broadcast_to(tensor_at(c, 0), shape_of(needed<json>(c, "shape")))}; }},
      {"expandDims", [](const Call& c) { return Results{expand_dims(tensor_at(c, 0), option(c, "axis", 0))}; }},
      {"squeeze",
       [](const Call& c) { return Results{squeeze(tensor_at(c, 0), option<std::vector<int>>(c, "axes", {}))}; }},
      {"transpose",
       [](const Call& c) {
         return Results{transpose(tensor_at(c, 0), option<std::vector<int>>(c, "permutation", {}))};
       }},
      {"reverse",
       [](const Call& c) { return Results{reverse(tensor_at(c, 0), option<std::vector<int>>(c, "axes", {}))}; }},
      {"slice",
       [](const Call& c) {
         return Results{slice(tensor_at(c, 0), needed<Integers>(c, "begin"), needed<Integers>(c, "size"))};
       }},
      {"split",
       [](const Call& c) { return split(tensor_at(c, 0), needed<std::int64_t>(c, "parts"), option(c, "axis", 0)); }},
      {"concat", [](const Call& c) { return Results{concat(c.tensors, option(c, "axis", 0))}; }},
      {"stack", [](const Call& c) { return Results{stack(c.tensors, option(c, "axis", 0))}; }},
      {"pad",
       [](const Call& c) {
         return Results{pad(tensor_at(c, 0), pad_widths(c),
                            choice(c, "mode", {"constant", "edge", "reflect"}, PadMode::constant),
                            option(c, "value", 0.0))};
       }},
      {"gather", [](const Call& c) { return Results{gather(tensor_at(c, 0), tensor_at(c, 1), option(c, "axis", 0))}; }},
      {"oneHot", [](const Call& c) { return Results{one_hot(tensor_at(c, 0), needed<std::int64_t>(c, "depth"))}; }},

      {"resize",
       [](const Call& c) {
         return Results{resize(tensor_at(c, 0), needed<std::int64_t>(c, "height"), needed<std::int64_t>(c, "width"),
                               {.mode = choice(c, "mode", {"nearest", "bilinear", "cubic"}, Interpolation::bilinear)})};
       }},
      {"gaussianBlur",
       [](const Call& c) { return Results{gaussian_blur(tensor_at(c, 0), needed<float>(c, "sigma"), border_of(c))}; }},
      {"sobel",
       [](const Call& c) {
         const Gradient gradient = sobel(tensor_at(c, 0), border_of(c));
         return Results{gradient.x, gradient.y};
       }},
      {"colourMatrix",
       [](const Call& c) { return Results{colour_matrix(tensor_at(c, 0), needed<std::vector<float>>(c, "matrix"))}; }},
      {"toFloat", unary<to_float>},
      {"toU8", unary<to_u8>},
  };
  return all;
}

#undef UNARY
#undef BINARY

}  // namespace

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto& [name, run] : ops()) names.push_back(name);
  return names;
}

std::vector<Tensor> run_op(const std::string& name, const Call& call) {
  const auto op = ops().find(name);
  if (op == ops().end()) refuse(ErrorCode::not_found, "there is no operation '" + name + "'.");
  return op->second(call);
}

DType dtype_named(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean})
    if (to_string(dtype) == name) return dtype;
  refuse(ErrorCode::invalid_argument, "there is no element type '" + name + "'.");
}

Shape shape_of(const json& sizes) {
  if (!sizes.is_array()) refuse(ErrorCode::invalid_argument, "a shape is an array of sizes, not " + sizes.dump() + ".");
  std::vector<std::int64_t> values;
  for (const json& size : sizes) {
    if (!size.is_number()) refuse(ErrorCode::invalid_argument, "a size cannot be " + size.dump() + ".");
    values.push_back(size.get<std::int64_t>());
  }
  return Shape(values);
}

}  // namespace tessera::js
