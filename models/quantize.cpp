// Floats as integers of eight bits and back.
#include "models/operators.h"

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

Results quantized(const Call& call) {
  const Tensor x = call.tensor(0), scale = scale_at(call, 1);
  if (call.integer("block_size", 0) != 0) call.unsupported("scales of blocks.");
  if (!call.has(2)) return {call.give(quantize_linear(x, scale, DType::u8, channel_axis(call)), Type::uint8)};
  const Tensor zero = scale_at(call, 2);
  if (zero.dtype() == DType::i32) call.unsupported("a result of type " + to_string(call.type(2)) + ".");
  return {call.give(quantize_linear(x, scale, zero, channel_axis(call)), call.type(2))};
}

Results dequantized(const Call& call) {
  const Tensor x = call.tensor(0), scale = scale_at(call, 1);
  if (call.integer("block_size", 0) != 0) call.unsupported("scales of blocks.");
  if (!call.has(2)) return {call.give(dequantize_linear(x, scale, channel_axis(call)), call.type(1))};
  return {call.give(dequantize_linear(x, scale, scale_at(call, 2), channel_axis(call)), call.type(1))};
}

Results dynamically_quantized(const Call& call) {
  const DynamicQuantized result = dynamic_quantize_linear(call.tensor(0));
  return {call.give(result.values, Type::uint8), call.give(result.scale, Type::float32),
          call.give(result.zero_point, Type::uint8)};
}

}  // namespace

const Operators& quantize_operators() {
  static const Operators rows{
      {"QuantizeLinear", 1, quantized},
      {"DequantizeLinear", 1, dequantized},
      {"DynamicQuantizeLinear", 1, dynamically_quantized},
  };
  return rows;
}

}  // namespace tessera::onnx
