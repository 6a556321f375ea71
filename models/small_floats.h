// Floats of fewer bits than tensors have: kept as f32, rounded to what the type has.
#pragma once
#include "models/proto.h"
#include <tessera/tessera.h>

namespace tessera::onnx {

bool is_float8(Type);
float from_float8(std::uint8_t bits, Type);

// x is f32. What is too large becomes the largest number, or, where it does not saturate, infinity or NaN.
Tensor to_float8(const Tensor& x, Type, bool saturates);
Tensor to_bfloat16(const Tensor& x);

}  // namespace tessera::onnx
