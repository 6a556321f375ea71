// Floats as integers of few bits and back.
#include <algorithm>

#include "models/operators.h"
#include "models/small_floats.h"

namespace tessera::onnx {

namespace {

// Scales of shape [1] stand for one number, whatever the axis.
Tensor scale_at(const Call& call, int input) {
  const Tensor scale = call.tensor(input);
  return scale.shape().size() == 1 ? scale.reshape({}) : scale;
}

int channel_axis(const Call& call) {
  return call.shape(1).size() == 1 ? 0 : call.axis(call.integer("axis", 1), call.rank());
}

// Of the input as it lies.
int channel_axis(const Call& call, Order order) {
  const int axis = channel_axis(call);
  if (order == Order::plain) return axis;
  const std::vector<int> axes = to_channels_last(call.rank());
  return static_cast<int>(std::ranges::find(axes, axis) - axes.begin());
}

// A scale or zero point for each element, or such that it broadcasts: one number, one for each channel, or one for each
// block of an axis.
Tensor spread(const Call& call, const Tensor& given) {
  const std::int64_t block = call.integer("block_size", 0);
  const Shape& shape = call.shape(0);
  if (block == 0) {
    if (given.shape().size() == 1) return given.reshape({});
    Sizes sizes(static_cast<std::size_t>(shape.rank()), 1);
    const int axis = channel_axis(call);
    call.expect(given.shape() == Shape{shape[axis]},
                "its scales " + given.shape().to_string() + " do not fit the axis " + std::to_string(axis) + ".");
    sizes[static_cast<std::size_t>(axis)] = shape[axis];
    return given.reshape(Shape(sizes));
  }
  const int axis = call.axis(call.integer("axis", 1), shape.rank());
  const std::int64_t size = shape[axis], blocks = block < 1 ? 0 : (size + block - 1) / block;
  Sizes expected(shape.dims().begin(), shape.dims().end());
  expected[static_cast<std::size_t>(axis)] = blocks;
  if (given.shape() != Shape(expected))
    call.fail(ErrorCode::shape_mismatch, "its scales " + given.shape().to_string() + " do not fit blocks of " +
                                             std::to_string(block) + " of " + shape.to_string() + ".");
  if (blocks == size) return given;
  return gather(given, range(call.context(), 0, static_cast<double>(size), 1, DType::i32) / static_cast<double>(block),
                axis);
}

struct Limits {
  double low, high;
};
Limits limits_of(const Call& call, Type type) {
  switch (type) {
    case Type::uint8: return {0, 255};
    case Type::int8: return {-128, 127};
    case Type::uint16: return {0, 65535};
    case Type::int16: return {-32768, 32767};
    case Type::uint4: return {0, 15};
    case Type::int4: return {-8, 7};
    default: call.unsupported("a result of type " + to_string(type) + ".");
  }
}

Results linearly_quantized(const Call& call) {
  const auto named = static_cast<Type>(call.integer("output_dtype", 0));
  const Type type = call.has(2) ? call.type(2) : named == Type::undefined ? Type::uint8 : named;
  if (is_float8(type))
    return {call.give(to_float8(call.tensor(0).cast(DType::f32) / spread(call, call.tensor(1)).cast(DType::f32), type,
                                call.integer("saturate", 1) != 0),
                      type)};
  const Limits limits = limits_of(call, type);
  if (call.integer("block_size", 0) == 0 && (type == Type::uint8 || type == Type::int8)) {
    const Order order = call.value(0).order();
    const Tensor x = call.tensor(0, order), scale = scale_at(call, 1);
    const int axis = channel_axis(call, order);
    return {call.give(call.has(2) ? quantize_linear(x, scale, scale_at(call, 2), axis)
                                  : quantize_linear(x, scale, dtype_of(call, type), axis),
                      type, order)};
  }
  Tensor places = round(call.tensor(0).cast(DType::f32) / spread(call, call.tensor(1)).cast(DType::f32));
  if (call.has(2)) places = places + spread(call, call.tensor(2)).cast(DType::f32);
  return {call.give(clip(places, limits.low, limits.high).cast(dtype_of(call, type)), type)};
}

Results linearly_dequantized(const Call& call) {
  if (call.integer("block_size", 0) == 0 && is_integer(dtype_of(call, call.type()))) {
    const Order order = call.value(0).order();
    const Tensor x = call.tensor(0, order), scale = scale_at(call, 1);
    const int axis = channel_axis(call, order);
    return {call.give(
        call.has(2) ? dequantize_linear(x, scale, scale_at(call, 2), axis) : dequantize_linear(x, scale, axis),
        call.type(1), order)};
  }
  const Tensor scale = spread(call, call.tensor(1));
  Tensor places = call.tensor(0).cast(DType::f32);
  if (call.has(2)) places = places - spread(call, call.tensor(2)).cast(DType::f32);
  return {call.give(places.cast(scale.dtype()) * scale, call.type(1))};
}

Results dynamically_quantized(const Call& call) {
  const DynamicQuantized result = dynamic_quantize_linear(call.tensor(0));
  return {call.give(result.values, Type::uint8), call.give(result.scale, Type::float32),
          call.give(result.zero_point, Type::uint8)};
}

}  // namespace

const Operators& quantize_operators() {
  static const Operators rows{
      {"QuantizeLinear", 1, linearly_quantized},
      {"DequantizeLinear", 1, linearly_dequantized},
      {"DynamicQuantizeLinear", 1, dynamically_quantized},
  };
  return rows;
}

}  // namespace tessera::onnx
