#include <tessera/model.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <set>
#include <variant>

#include "models/capacity.h"
#include "models/explanation.h"
#include "models/operators.h"
#include "models/patterns.h"
#include "models/tfjs/reader.h"

namespace tessera::onnx {

// The file itself, mapped or in memory.
struct ModelFile {
  std::variant<std::vector<std::byte>, std::unique_ptr<MappedFile>> content;

  Bytes bytes() const {
    if (const auto* mapped = std::get_if<1>(&content)) return (*mapped)->bytes();
    return std::get<0>(content);
  }
};

}  // namespace tessera::onnx

namespace tessera {

namespace {

using onnx::GraphProto;
using onnx::ModelFile;
using onnx::NeedsValue;
using onnx::NodeProto;
using onnx::Trace;
using onnx::ValueInfoProto;

ModelValue described(const ValueInfoProto& info) {
  const std::optional<DType> dtype = onnx::dtype_for(info.type);
  if (!info.is_tensor || !dtype)
    throw Error(ErrorCode::unsupported,
                "'" + info.name + "' is " +
                    (info.is_tensor ? "of type " + onnx::to_string(info.type) : "a sequence, a map or optional") +
                    ", which no tensor is.");
  ModelValue value{.name = info.name, .type = onnx::to_string(info.type), .dtype = *dtype, .shape = {}};
  if (info.has_shape) {
    value.shape.emplace();
    for (const ValueInfoProto::Dimension& dimension : info.dims)
      value.shape->push_back({dimension.size && *dimension.size >= 0 ? dimension.size : std::nullopt, dimension.name});
  }
  return value;
}

void check_operators(const GraphProto& graph, std::int64_t opset) {
  for (const NodeProto& node : graph.nodes) try {
      onnx::operator_for(node, opset);
      for (const onnx::AttributeProto& attribute : node.attributes)
        if (attribute.graph) check_operators(*attribute.graph, opset);
    } catch (const Error& error) {
      throw Error(error.code(), "in " + description(node) + ": " + error.what());
    }
}

}  // namespace

struct ModelImpl {
  ModelImpl(Context& context, ModelFile source, std::filesystem::path folder, const std::string& name,
            const ModelOptions& options)
      : progress(options.progress),
        file(std::move(source)),
        proto(read(folder, options.capacities)),
        constants(context, options.hub ? *options.hub : TensorHub(context), name, std::move(folder)),
        max_programs(std::max<std::size_t>(1, options.max_programs)) {
    progress.tell(onnx::share_of_reading, "looking for operators");
    check_operators(proto.graph, proto.opset);
    std::set<std::string> with_value;
    for (const onnx::TensorProto& tensor : proto.graph.initializers) with_value.insert(tensor.name);
    for (const ValueInfoProto& info : proto.graph.inputs) {
      if (with_value.contains(info.name)) continue;
      inputs.push_back(described(info));
      input_types.push_back(info.type);
    }
    for (const ValueInfoProto& info : proto.graph.outputs) outputs.push_back(described(info));
    public_inputs.assign(inputs.begin(), inputs.end() - static_cast<std::ptrdiff_t>(proto.states));
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (!is_state(i)) public_outputs.push_back(outputs[i]);
    progress.tell(1, "ending the load");
  }

  onnx::ModelProto read(const std::filesystem::path& folder,
                        const std::map<std::string, std::int64_t>& capacities) const {
    progress.tell(0, "reading the file");
    const bool is_tfjs = tfjs::is_model(file.bytes());
    onnx::ModelProto model =
        is_tfjs ? tfjs::read_model(file.bytes(), folder, progress) : onnx::read_model(file.bytes(), &progress);
    if (!is_tfjs) onnx::recognise_patterns(model.graph, model.opset);
    onnx::set_capacities(model.graph, capacities);
    return model;
  }

  // A set of input sizes: its Program, or none where values decide what is to be done.
  struct Entry {
    std::vector<Shape> shapes;
    std::optional<Program> program;
  };

  std::vector<Tensor> traced(std::span<const Tensor> given, Trace::Mode mode,
                             std::vector<onnx::Reported>* report = nullptr, const onnx::Progress* told = nullptr) {
    Trace trace(constants, mode, proto.opset);
    trace.report = report;
    trace.progress = told;
    onnx::Names names;
    for (std::size_t i = 0; i < given.size(); ++i) names.values[inputs[i].name] = trace.input(given[i], input_types[i]);
    trace.run(proto.graph, names);
    std::vector<Tensor> results;
    const std::vector<onnx::Value> values = trace.outputs_of(proto.graph, names);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].type() != proto.graph.outputs[i].type)
        throw Error(ErrorCode::dtype_mismatch, "the output '" + outputs[i].name + "' is " +
                                                   onnx::to_string(values[i].type()) + ", but the file says " +
                                                   outputs[i].type + ".");
      const bool is_turned = values[i].order() != onnx::Order::plain;
      results.push_back(trace.tensor(values[i], onnx::Order::plain, false));
      if (report && is_turned)
        report->push_back({.node = {.name = outputs[i].name,
                                    .op = onnx::output_row,
                                    .result = outputs[i].type + results.back().shape().to_string(),
                                    .became = "axes in the order of the file"},
                           .results = {results.back()},
                           .turn = report->size()});
    }
    return results;
  }

  std::optional<Program> recorded(const std::vector<Shape>& shapes, std::vector<onnx::Reported>* report,
                                  const onnx::Progress* told) {
    std::vector<TensorSpec> specs;
    for (std::size_t i = 0; i < shapes.size(); ++i) specs.push_back({shapes[i], inputs[i].dtype});
    try {
      return Program::record(constants.device, specs, [&](std::span<const Tensor> placeholders) {
        std::vector<Tensor> results = traced(placeholders, Trace::Mode::recording, report, told);
        if (told) told->tell(onnx::share_of_building, "planning kernels");
        return results;
      });
    } catch (const NeedsValue& needed) {
      if (report)
        report->push_back(
            {.node = {.name = "",
                      .op = "",
                      .result = "",
                      .became = needed.reason + ", which is read back by each call; what follows is built then"}});
      return {};
    }
  }

  // Where that ends half way, no weights stay behind.
  std::optional<Program> built(const std::vector<Shape>& shapes) {
    const onnx::Constants::Mark before = constants.mark();
    try {
      progress.tell(0, "building a Program");
      std::optional<Program> program = recorded(shapes, nullptr, &progress);
      progress.tell(1, "ending the build");
      return program;
    } catch (...) {
      constants.go_back_to(before);
      throw;
    }
  }

  std::optional<Program> program_for(const std::vector<Shape>& shapes) {
    const auto place = std::ranges::find(entries, shapes, &Entry::shapes);
    if (place != entries.end()) {
      entries.splice(entries.begin(), entries, place);
    } else {
      entries.push_front({shapes, built(shapes)});
      if (entries.size() > max_programs) entries.pop_back();
    }
    return entries.front().program;
  }

  // Sizes of one free name have to be equal.
  void check_shape(const ModelValue& input, const Shape& shape, std::map<std::string, std::int64_t>& free_sizes) const {
    if (!input.shape) return;
    bool fits = static_cast<int>(input.shape->size()) == shape.rank();
    for (int i = 0; fits && i < shape.rank(); ++i) {
      const ModelSize& size = (*input.shape)[static_cast<std::size_t>(i)];
      if (size.size) fits = *size.size == shape[i];
      else if (!size.name.empty()) fits = free_sizes.try_emplace(size.name, shape[i]).first->second == shape[i];
    }
    if (fits) return;
    std::string sizes;
    for (const auto& [name, size] : free_sizes)
      sizes += (sizes.empty() ? " with " : ", ") + name + " = " + std::to_string(size);
    throw Error(ErrorCode::shape_mismatch, "model " + constants.model + ": the input '" + input.name +
                                               "' is given as " + shape.to_string() + ", but it is " +
                                               input.to_string() + sizes + ".");
  }

  std::vector<Shape> shapes_from(const std::map<std::string, Shape>& sizes) const {
    std::map<std::string, std::int64_t> free_sizes;
    std::vector<Shape> shapes;
    for (const auto& [name, shape] : sizes) check_input_name(name);
    for (const ModelValue& input : inputs) {
      if (const auto given = sizes.find(input.name); given != sizes.end()) {
        shapes.push_back(given->second);
      } else {
        std::vector<std::int64_t> fixed;
        if (input.shape)
          for (const ModelSize& size : *input.shape)
            if (size.size) fixed.push_back(*size.size);
        if (!input.shape || fixed.size() != input.shape->size())
          throw Error(ErrorCode::invalid_argument, "model " + constants.model + ": the input '" + input.name +
                                                       "' needs a shape: it is " + input.to_string() + ".");
        shapes.push_back(Shape(fixed));
      }
      check_shape(input, shapes.back(), free_sizes);
    }
    return shapes;
  }

  bool is_state(std::size_t output) const {
    return output >= proto.first_state_output && output < proto.first_state_output + proto.states;
  }

  // The states that the last call left, behind what is given.
  void add_states(std::vector<Tensor>& tensors) {
    if (states.empty())
      for (const ModelValue& input : std::span(inputs).last(proto.states)) {
        std::vector<std::int64_t> sizes;
        for (const ModelSize& size : *input.shape) sizes.push_back(*size.size);
        states.push_back(constants.device.zeros(Shape(sizes), input.dtype));
      }
    tensors.insert(tensors.end(), states.begin(), states.end());
  }
  void keep_states(const std::vector<Tensor>& results) {
    if (proto.states == 0) return;
    const auto first = results.begin() + static_cast<std::ptrdiff_t>(proto.first_state_output);
    states.assign(first, first + static_cast<std::ptrdiff_t>(proto.states));
    for (const Tensor& state : states) state.compute();  // else each call would wait for all before it
  }

  void check_input_name(const std::string& name) const {
    if (std::ranges::find(public_inputs, name, &ModelValue::name) != public_inputs.end()) return;
    std::string names;
    for (const ModelValue& input : public_inputs) names += (names.empty() ? "'" : ", '") + input.name + "'";
    throw Error(ErrorCode::not_found, "model " + constants.model + ": there is no input '" + name +
                                          "'; its inputs are " + (names.empty() ? "none" : names) + ".");
  }

  // With the name of the model before the sentence.
  template <class Body>
  auto naming(const Body& body) const {
    try {
      return body();
    } catch (const Error& error) {
      throw Error(error.code(), "model " + constants.model + ": " + error.what());
    }
  }

  const onnx::Progress progress;
  ModelFile file;
  onnx::ModelProto proto;
  std::vector<ModelValue> inputs, outputs;                // of the graph
  std::vector<ModelValue> public_inputs, public_outputs;  // without states
  std::vector<onnx::Type> input_types;

  std::mutex lock;  // of all below
  onnx::Constants constants;
  std::list<Entry> entries;    // the most recently used one first
  std::vector<Tensor> states;  // of stateful layers; empty: all are zero
  std::size_t max_programs;
};

std::string ModelValue::to_string() const {
  std::string text = name + ": " + type;
  if (!shape) return text + " of any shape";
  text += " [";
  for (std::size_t i = 0; i < shape->size(); ++i) {
    const ModelSize& size = (*shape)[i];
    text += (i ? "," : "") + (size.size ? std::to_string(*size.size) : size.name.empty() ? "?" : size.name);
  }
  return text + "]";
}

Model Model::load(Context& context, const std::filesystem::path& path, const ModelOptions& options) {
  try {
    ModelFile file{std::make_unique<MappedFile>(path)};
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    return Model(std::make_shared<ModelImpl>(context, std::move(file), folder,
                                             options.name.empty() ? path.stem().string() : options.name, options));
  } catch (const Error& error) {
    throw Error(error.code(), "model " + path.string() + ": " + error.what());
  }
}

Model Model::load(Context& context, std::span<const std::byte> bytes, const ModelOptions& options) {
  const std::string name = options.name.empty() ? "model" : options.name;
  try {
    ModelFile file{std::vector(bytes.begin(), bytes.end())};
    return Model(std::make_shared<ModelImpl>(context, std::move(file), "", name, options));
  } catch (const Error& error) {
    throw Error(error.code(), "model " + name + ": " + error.what());
  }
}

const std::vector<ModelValue>& Model::inputs() const { return impl_->public_inputs; }
const std::vector<ModelValue>& Model::outputs() const { return impl_->public_outputs; }
const std::string& Model::name() const { return impl_->constants.model; }
const TensorHub& Model::hub() const { return impl_->constants.hub; }

std::map<std::string, Tensor> Model::operator()(const std::map<std::string, Tensor>& given) const {
  ModelImpl& impl = *impl_;
  for (const auto& [name, tensor] : given) impl.check_input_name(name);
  std::vector<Tensor> tensors;
  std::vector<Shape> shapes;
  std::map<std::string, std::int64_t> free_sizes;
  for (const ModelValue& input : impl.public_inputs) {
    const auto place = given.find(input.name);
    if (place == given.end())
      throw Error(ErrorCode::invalid_argument, "model " + name() + ": the input '" + input.name + "' is not given.");
    const Tensor& tensor = place->second;
    if (tensor.dtype() != input.dtype)
      throw Error(ErrorCode::dtype_mismatch, "model " + name() + ": the input '" + input.name + "' is given as " +
                                                 std::string(to_string(tensor.dtype())) + ", but " + input.type +
                                                 " is kept as " + std::string(to_string(input.dtype)) + ".");
    impl.check_shape(input, tensor.shape(), free_sizes);
    tensors.push_back(tensor);
  }
  const std::vector<Tensor> results = impl.naming([&] {
    const std::scoped_lock hold(impl.lock);
    impl.add_states(tensors);
    for (const Tensor& tensor : tensors) shapes.push_back(tensor.shape());
    const std::optional<Program> program = impl.program_for(shapes);
    std::vector<Tensor> made = program ? (*program)(tensors) : impl.traced(tensors, Trace::Mode::computing);
    impl.keep_states(made);
    return made;
  });
  std::map<std::string, Tensor> by_name;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!impl.is_state(i)) by_name[impl.outputs[i].name] = results[i];
  return by_name;
}

void Model::reset_states() const {
  const std::scoped_lock hold(impl_->lock);
  impl_->states.clear();
}

Pending<void> Model::prepare(const std::map<std::string, Shape>& sizes) const {
  const std::vector<Shape> shapes = impl_->shapes_from(sizes);
  const std::optional<Program> program = impl_->naming([&] {
    const std::scoped_lock hold(impl_->lock);
    return impl_->program_for(shapes);
  });
  if (program) return program->prepare();
  return Pending<void>::done();  // nothing is to compile before there are values
}

std::vector<ModelNode> Model::explain(const std::map<std::string, Shape>& sizes) const {
  const std::vector<Shape> shapes = impl_->shapes_from(sizes);
  return impl_->naming([&] {
    const std::scoped_lock hold(impl_->lock);
    impl_->program_for(shapes);  // constants are tensors after that, and no operations of any node
    std::vector<onnx::Reported> report;
    const std::optional<Program> program = impl_->recorded(shapes, &report, nullptr);
    if (program) onnx::add_work(*program, report);
    std::vector<ModelNode> nodes;
    for (onnx::Reported& reported : report) nodes.push_back(std::move(reported.node));
    return nodes;
  });
}

}  // namespace tessera
