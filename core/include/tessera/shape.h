// The dimensions of a tensor, row-major, the last one fastest.
//
// Sizes, positions and counts of elements are std::int64_t in all of tessera; axes and ranks are int. Kernels count
// elements with 32-bit integers: the dimensions of a shape, zeros left out, multiply to at most max_size. Whatever
// makes a larger shape, an operation on tensors that stretch included, is an out_of_memory there and then.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include <tessera/api.h>

namespace tessera {

class TESSERA_API Shape {
 public:
  static constexpr int max_rank = 8;
  static constexpr std::int64_t max_size = 2'147'483'647;

  Shape() = default;  // a scalar: rank 0, one element
  Shape(std::initializer_list<std::int64_t> dims);
  explicit Shape(std::span<const std::int64_t> dims);

  int rank() const { return rank_; }
  std::int64_t operator[](int axis) const;     // a negative axis counts from the end
  std::int64_t size() const { return size_; }  // the number of elements
  std::span<const std::int64_t> dims() const { return {dims_.data(), static_cast<std::size_t>(rank_)}; }
  std::string to_string() const;  // "[2,3,4]"
  bool operator==(const Shape& other) const {
    if (size_ != other.size_ || rank_ != other.rank_) return false;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank_); ++axis)
      if (dims_[axis] != other.dims_[axis]) return false;
    return true;
  }

 private:
  std::array<std::int64_t, max_rank> dims_{};
  std::int64_t size_ = 1;
  int rank_ = 0;
};

}  // namespace tessera
