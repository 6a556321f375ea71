// Colour matrices whose numbers are parameters.
#pragma once
#include "core/ops/image.h"

namespace tessera {

inline float units(DType dtype) { return dtype == DType::u8 ? 255.0f : 1.0f; }  // the number for white, or 1

// [rows, numbers / rows] on the channels of an image; the result is `shape`, of a floating type. Up to 4 x 5 numbers.
Tensor colour_matrix_of_numbers(const Tensor& image, const Shape& shape, std::int64_t rows,
                                std::span<const float> numbers, DType);

}  // namespace tessera
