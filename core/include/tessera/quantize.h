// Floats as 8-bit integers and back: value = (integer - zero point) * scale.
//
// A scale, and a zero point where there is one, is a single number for the whole tensor, or one for each channel: of
// shape [channels], for the channels along `axis`. Rounding is half to even, numbers that do not fit saturate, NaN
// becomes 0. Each of these is one kernel once the scale is known.
//
// Some devices take numbers below 2^-126 (denormals) for zeros. Nothing is divided by less than 2^-124, so that they
// quantise to 0 on every device.
#pragma once
#include <optional>

#include <tessera/tensor.h>

namespace tessera {

struct Quantized {
  Tensor values;  // i8, of x's shape
  Tensor scale;   // f32: one, or one a channel
};

// Symmetric: x [...], floats; the scale is max|x| / 127, or 1 where all of x is below 2^-117 in magnitude, zeros say; a
// NaN in x makes it NaN. With an axis, each channel has its own. dequantize() takes i8, u8 and i32 and gives the
// scale's type.
TESSERA_API Quantized quantize(const Tensor& x, std::optional<int> axis = {});
TESSERA_API Tensor dequantize(const Tensor& values, const Tensor& scale, std::optional<int> axis = {});

// As QuantizeLinear of ONNX: round(x / scale) + zero_point. x: floats and i32; scale: floats; zero_point: i8 or u8, of
// the scale's shape, and its type is that of the result. Without a zero point it is 0. A scale nearer to 0 than 2^-124
// counts as 2^-124.
TESSERA_API Tensor quantize_linear(const Tensor& x, const Tensor& scale, const Tensor& zero_point, int axis = 1);
TESSERA_API Tensor quantize_linear(const Tensor& x, const Tensor& scale, DType result = DType::u8, int axis = 1);

// As DequantizeLinear of ONNX: (x - zero_point) * scale. x: i8, u8 or i32; zero_point: of x's type and the scale's
// shape; the result has the scale's type.
TESSERA_API Tensor dequantize_linear(const Tensor& x, const Tensor& scale, const Tensor& zero_point, int axis = 1);
TESSERA_API Tensor dequantize_linear(const Tensor& x, const Tensor& scale, int axis = 1);

struct DynamicQuantized {
  Tensor values;      // u8, of x's shape
  Tensor scale;       // f32, one
  Tensor zero_point;  // u8, one
};

// As DynamicQuantizeLinear of ONNX: the range is that of x and zero together. x [...], floats; a range below 2^-116,
// zeros say, has a scale of 1.
TESSERA_API DynamicQuantized dynamic_quantize_linear(const Tensor& x);

// Weights of 4 bits, as files of language models have them: (weight - zero point) * scale, with a scale, and a zero
// point where there are any, for each group of adjacent weights of a column.
struct Weights4Bit {
  Tensor values;                        // u8 [N, K / 2]: two weights a byte, the first one in the lower bits
  Tensor scales;                        // floats [N, groups]; a group has K / groups weights, a multiple of 8
  std::optional<Tensor> zero_points{};  // u8 or floats [N, groups]; without them they are 8
};

// a [..., k], floats, times the matrix [K, N] of the weights: [..., N] of a's type, summed in f32. Where k is below K,
// a counts as followed by zeros. Weights are unpacked in the kernel: they take half a byte each on the device.
TESSERA_API Tensor matmul_4bit(const Tensor& a, const Weights4Bit& weights);

struct FakeQuantize {
  float min = -6, max = 6;
  int bits = 8;               // 2 to 16
  bool narrow_range = false;  // one level fewer, the lowest
};

// As FakeQuantWithMinMaxArgs of TensorFlow: x [...], floats, brought to the nearest of the 2^bits levels between min
// and max, both of them nudged so that zero is a level. The distance of two levels, and 1 by it, are normal f32.
TESSERA_API Tensor fake_quantize(const Tensor& x, const FakeQuantize& = {});

}  // namespace tessera
