#include <tessera/shape.h>

#include <algorithm>
#include <limits>

#include <tessera/error.h>

namespace tessera {
namespace {

std::string joined(std::span<const std::int64_t> dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

}  // namespace

Shape::Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) : rank_(static_cast<int>(dims.size())) {
  if (dims.size() > max_rank)
    throw Error(ErrorCode::invalid_argument, "shape: " + joined(dims) + " has " + std::to_string(dims.size()) +
                                                 " dimensions, more than the " + std::to_string(max_rank) +
                                                 " there can be.");
  for (const std::int64_t dim : dims) {
    if (dim < 0)
      throw Error(ErrorCode::invalid_argument,
                  "shape: a dimension of " + joined(dims) + " is " + std::to_string(dim) + ", below 0.");
    if (dim != 0 && size_ > std::numeric_limits<std::int64_t>::max() / 4 / dim)
      throw Error(ErrorCode::invalid_argument,
                  "shape: " + joined(dims) + " has more elements than a 64-bit byte count can hold.");
    size_ *= dim;
  }
  std::copy(dims.begin(), dims.end(), dims_.begin());
}

std::int64_t Shape::operator[](int axis) const {
  const int from_front = axis < 0 ? axis + rank_ : axis;
  if (from_front < 0 || from_front >= rank_)
    throw Error(ErrorCode::invalid_argument, "shape: axis " + std::to_string(axis) + " is outside of " + to_string() +
                                                 " of rank " + std::to_string(rank_) + ".");
  return dims_[static_cast<std::size_t>(from_front)];
}

std::string Shape::to_string() const { return joined(dims()); }

}  // namespace tessera
