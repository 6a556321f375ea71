// Arithmetic on sizes, which count elements: of one axis or of a whole tensor.
//
// The sizes of a Shape, zeros left out, multiply to no more than Shape::max_size, and so do any of them: such products,
// and distances between elements, need no further check. The functions here multiply, add and narrow sizes that come
// from anywhere else, such as a user's repeats, paddings and blocks.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tessera/dtype.h>
#include <tessera/shape.h>

namespace tessera {

// Terms and factors are from 0 on. A result above Shape::max_size is an out_of_memory of the operation `op`.
std::int64_t size_product(std::string_view op, std::span<const std::int64_t> factors);
std::int64_t size_sum(std::string_view op, std::span<const std::int64_t> terms);
inline std::int64_t size_product(std::string_view op, std::initializer_list<std::int64_t> factors) {
  return size_product(op, std::span(factors.begin(), factors.size()));
}
inline std::int64_t size_sum(std::string_view op, std::initializer_list<std::int64_t> terms) {
  return size_sum(op, std::span(terms.begin(), terms.size()));
}

// Throws an Error of the operation `op` where no Shape can have these sizes.
void check_dims(std::string_view op, std::span<const std::int64_t> dims);

// Shape(dims), whose errors name the operation.
Shape result_shape(std::string_view op, std::span<const std::int64_t> dims);
inline Shape result_shape(std::string_view op, std::initializer_list<std::int64_t> dims) {
  return result_shape(op, std::span(dims.begin(), dims.size()));
}

// The bits of a kernel's parameter. Shaders read it as an i32 or a u32; a number that is neither is an
// invalid_argument.
std::uint32_t word_of(std::int64_t);

// The same number in the type that an interface takes; an unsupported where it does not fit there.
[[noreturn]] void fail_narrowing(const std::string& number);
template <std::integral To, std::integral From>
constexpr To narrow(From value) {
  if (!std::in_range<To>(value)) fail_narrowing(std::to_string(value));
  return static_cast<To>(value);
}

// The bytes of the elements, one after the other.
inline std::uint64_t byte_count(std::int64_t elements, DType dtype) {
  return static_cast<std::uint64_t>(elements) * size_of(dtype);
}

// The number of steps that reach a number from 0 on, and the place where they end.
template <std::integral Number>
constexpr Number steps_to(Number number, std::type_identity_t<Number> step) {
  return (number + step - 1) / step;
}
template <std::integral Number>
constexpr Number round_up(Number number, std::type_identity_t<Number> step) {
  return steps_to(number, step) * step;
}

// Four elements lie in a texel.
constexpr std::int64_t texel_count(std::int64_t elements) { return steps_to(elements, 4); }

}  // namespace tessera
