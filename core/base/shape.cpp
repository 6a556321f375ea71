#include <tessera/shape.h>

#include <algorithm>

#include "core/base/sizes.h"
#include <tessera/error.h>

namespace tessera {

Shape::Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) {
  check_dims("shape", dims);
  rank_ = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), dims_.begin());
  for (const std::int64_t dim : dims) size_ *= dim;
}

std::int64_t Shape::operator[](int axis) const {
  const int from_front = axis < 0 ? axis + rank_ : axis;
  if (from_front < 0 || from_front >= rank_)
    throw Error(ErrorCode::invalid_argument, "shape: axis " + std::to_string(axis) + " is outside of " + to_string() +
                                                 " of rank " + std::to_string(rank_) + ".");
  return dims_[static_cast<std::size_t>(from_front)];
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (int axis = 0; axis < rank_; ++axis) text += (axis ? "," : "") + std::to_string((*this)[axis]);
  return text + "]";
}

}  // namespace tessera
