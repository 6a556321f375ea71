// Views by axes, of which transposing, slicing, reversing and stretching are made.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ops/family.h"

namespace tessera {

// One step of counting through a result: `size` values, each `stride` elements of x from the one before.
struct Digit {
  std::int64_t size, stride;
};

// The digits that count through x itself, the outermost axis first.
std::vector<Digit> digits_of(const Shape&);

// The result's elements, in order, are those of x from `offset` on along the digits, the last of which counts fastest.
// Makes no kernel; see Strided.
Tensor axis_view(const Tensor& x, const Shape& result, std::int64_t offset, std::span<const Digit>);

// Throws invalid_argument unless there is one value for each axis.
void check_one_per_axis(std::string_view op, std::string_view values, std::size_t count, const Shape&);

void check_matrices(std::string_view op, const Shape&);  // throws invalid_argument unless [...,rows,columns]

std::string axis_of(int axis, const Shape&);  // "axis 1 of [2,3]"

}  // namespace tessera
