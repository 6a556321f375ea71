#include "models/tfjs/operators.h"

#include <map>

namespace tessera::tfjs {

const Operator& operator_for(const onnx::NodeProto& node) {
  static const std::map<std::string_view, const Operator*> table = [] {
    std::map<std::string_view, const Operator*> rows;
    for (const Operators* kind : {&pointwise_operators(), &conv_operators(), &shape_operators(), &slicing_operators(),
                                  &sequence_operators(), &control_operators(), &list_operators(), &other_operators()})
      for (const Operator& row : *kind) rows[row.name] = &row;
    return rows;
  }();
  const auto row = table.find(node.op);
  if (row == table.end()) throw Error(ErrorCode::unsupported, "there is no operator " + node.op + " of TensorFlow.");
  return *row->second;
}

Value tensor_of_integers(const Call& call, const Sizes& numbers, const Shape& shape) {
  const std::vector<std::int32_t> elements(numbers.begin(), numbers.end());
  return call.trace().result(call.trace().context(true).tensor(shape, elements), Type::int32, Order::plain, true);
}

Shape shape_from(const Call& call, const Sizes& sizes) {
  call.expect(sizes.size() <= static_cast<std::size_t>(Shape::max_rank),
              "a shape has " + std::to_string(sizes.size()) + " axes.");
  for (const std::int64_t size : sizes)
    call.expect(size >= 0, "an axis would have the size " + std::to_string(size) + ".");
  return Shape(sizes);
}

void expect_channels_last(const Call& call) {
  const std::string format = call.text("data_format", "");
  if (!format.empty() && format != "NHWC" && format != "NDHWC" && format != "NWC")
    call.unsupported("images of the order " + format + ".");
}

}  // namespace tessera::tfjs
