#include "models/operators.h"

#include <map>

#include "models/patterns.h"
#include "models/tfjs/operators.h"
#include "models/tfjs/reader.h"

namespace tessera::onnx {

namespace {

constexpr std::int64_t newest_opset = 1000;

const Operator* find_operator(std::string_view name, std::int64_t opset) {
  using Versions = std::map<std::int64_t, const Operator*>;
  static const std::map<std::string_view, Versions> table = [] {
    std::map<std::string_view, Versions> rows;
    for (const Operators* kind :
         {&pointwise_operators(), &shape_operators(),     &slicing_operators(),   &reduce_operators(),
          &matmul_operators(),    &attention_operators(), &conv_operators(),      &pool_operators(),
          &norm_operators(),      &gather_operators(),    &dependent_operators(), &loss_operators(),
          &quantize_operators(),  &resize_operators(),    &sampling_operators(),  &grid_operators(),
          &column_operators(),    &signal_operators(),    &recurrent_operators(), &control_operators(),
          &text_operators()})
      for (const Operator& row : *kind) rows[row.name][row.since] = &row;
    return rows;
  }();
  const auto versions = table.find(name);
  if (versions == table.end()) return nullptr;
  const auto after = versions->second.upper_bound(opset);
  return after == versions->second.begin() ? nullptr : std::prev(after)->second;
}

}  // namespace

const Operator& onnx_operator(std::string_view name, std::int64_t opset) {
  if (const Operator* row = find_operator(name, opset)) return *row;
  throw Error(ErrorCode::unsupported,
              "there is no operator " + std::string(name) + " of opset " + std::to_string(opset) + ".");
}

const Operator& operator_for(const NodeProto& node, std::int64_t opset) {
  if (node.domain == tfjs::domain) return tfjs::operator_for(node);
  if (node.domain == pattern_domain) {
    const Operator* row = find_operator(node.domain + "." + node.op, newest_opset);
    return row ? *row : onnx_operator(node.op, newest_opset);
  }
  const bool is_of_onnx = node.domain.empty() || node.domain == "ai.onnx";
  const std::string name = is_of_onnx ? node.op : node.domain + "." + node.op;
  if (const Operator* row = find_operator(name, is_of_onnx ? opset : newest_opset)) return *row;
  throw Error(ErrorCode::unsupported, "there is no operator " + node.op + " of " +
                                          (is_of_onnx ? "" : node.domain + ", ") + "opset " + std::to_string(opset) +
                                          ".");
}

std::optional<Sizes> axes_of(const Call& call, int input) {
  if (const std::optional<Sizes> axes = call.integers("axes")) return axes;
  if (call.has(input)) return call.integers_of(input);
  return {};
}

DType dtype_of(const Call& call, Type type) {
  const std::optional<DType> dtype = dtype_for(type);
  if (!dtype) call.unsupported("elements of type " + to_string(type) + " are not for tensors.");
  return *dtype;
}

}  // namespace tessera::onnx
