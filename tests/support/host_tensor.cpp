#include "support/host_tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>

namespace tessera::test {
namespace {

template <Element T>
Tensor tensor_of(Context& context, const HostTensor& host) {
  const auto elements = std::make_unique<T[]>(host.values.size());  // a vector of bool has no elements to point at
  std::transform(host.values.begin(), host.values.end(), elements.get(),
                 [](float value) { return static_cast<T>(value); });
  return context.tensor(host.shape, std::span<const T>(elements.get(), host.values.size()));
}

}  // namespace

float HostTensor::at(const Position& coordinates) const {
  std::int64_t element = 0;
  for (int axis = 0; axis < shape.rank(); ++axis)
    element = element * shape[axis] + coordinates.at(static_cast<std::size_t>(axis));
  return values.at(static_cast<std::size_t>(element));
}

Tensor HostTensor::on(Context& context, DType dtype) const {
  switch (dtype) {
    case DType::f32: return tensor_of<float>(context, *this);
    case DType::f16: return tensor_of<half>(context, *this);
    case DType::i32: return tensor_of<std::int32_t>(context, *this);
    case DType::i8: return tensor_of<std::int8_t>(context, *this);
    case DType::u8: return tensor_of<std::uint8_t>(context, *this);
    case DType::boolean: return tensor_of<bool>(context, *this);
  }
  return {};
}

void expect_equal(const Tensor& got, const HostTensor& want) {
  EXPECT_EQ(got.shape(), want.shape);
  EXPECT_EQ(got.read(), want.values);
}

std::uint64_t dispatches_of(Context& context, const Tensor& tensor) {
  context.reset_stats();
  tensor.compute();
  return context.stats().dispatches;
}

std::int64_t Choices::between(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(generator_);
}

Shape Choices::shape(int rank, std::int64_t largest) {
  std::vector<std::int64_t> dims;
  for (int axis = 0; axis < rank; ++axis) dims.push_back(between(1, largest));
  return Shape(dims);
}

HostTensor Choices::tensor(const Shape& shape, DType dtype) {
  const std::int64_t low = dtype == DType::u8 || dtype == DType::boolean ? 0 : -100,
                     high = dtype == DType::boolean ? 1 : 100;
  return made(shape, [&](const Position&) { return static_cast<float>(between(low, high)); });
}

std::vector<int> Choices::permutation(int rank) {
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), generator_);
  return order;
}

}  // namespace tessera::test
