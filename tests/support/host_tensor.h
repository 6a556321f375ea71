// Tensors on the host, for expected values made by plain loops over coordinates.
#pragma once
#include <random>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::test {

using Position = std::vector<std::int64_t>;

inline constexpr DType every_dtype[] = {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean};

struct HostTensor {
  Shape shape;
  std::vector<float> values;

  float at(const Position&) const;
  Tensor on(Context&, DType = DType::f32) const;
};

// value(coordinates) for each element of the shape, in order.
template <class Value>
HostTensor made(const Shape& shape, const Value& value) {
  HostTensor tensor{shape, {}};
  Position at(static_cast<std::size_t>(shape.rank()), 0);
  for (std::int64_t i = 0; i < shape.size(); ++i) {
    std::int64_t rest = i;
    for (int axis = shape.rank() - 1; axis >= 0; rest /= shape[axis], --axis)
      at[static_cast<std::size_t>(axis)] = rest % shape[axis];
    tensor.values.push_back(value(at));
  }
  return tensor;
}

void expect_equal(const Tensor& got, const HostTensor& want);  // the shape and each element

std::uint64_t dispatches_of(Context&, const Tensor&);  // how many it takes to compute it

// Seeded choices of shapes, axes and values.
class Choices {
 public:
  explicit Choices(std::uint32_t seed) : generator_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high);  // both included
  Shape shape(int rank, std::int64_t largest);
  HostTensor tensor(const Shape&, DType);  // whole values that the type has
  std::vector<int> permutation(int rank);

 private:
  std::mt19937 generator_;
};

}  // namespace tessera::test
