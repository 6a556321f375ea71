#include "core/base/sizes.h"

#include <limits>
#include <string>

#include "core/base/fail.h"

namespace tessera {
namespace {

constexpr std::int64_t most_counted = std::numeric_limits<std::int64_t>::max();

// A product of numbers from 0 on, no higher than `most_counted`.
std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  return b != 0 && a > most_counted / b ? most_counted : a * b;
}
std::int64_t saturating_sum(std::int64_t a, std::int64_t b) { return a > most_counted - b ? most_counted : a + b; }

std::string joined(std::span<const std::int64_t> values, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) text += separator;
    text += std::to_string(values[i]);
  }
  return text;
}

std::string counted(std::int64_t count) {
  return count == most_counted ? std::to_string(count) + " or more" : std::to_string(count);
}

std::int64_t checked(std::string_view op, std::span<const std::int64_t> values, std::string_view symbol,
                     std::int64_t result) {
  if (result > Shape::max_size)
    fail(ErrorCode::out_of_memory, op,
         joined(values, symbol) + " is " + counted(result) + ", more than the " + std::to_string(Shape::max_size) +
             " elements there can be.");
  return result;
}

}  // namespace

std::int64_t size_product(std::string_view op, std::span<const std::int64_t> factors) {
  bool is_empty = false;
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    is_empty = is_empty || factor == 0;
    product = saturating_product(product, factor);
  }
  return is_empty ? 0 : checked(op, factors, " * ", product);
}

std::int64_t size_sum(std::string_view op, std::span<const std::int64_t> terms) {
  std::int64_t sum = 0;
  for (const std::int64_t term : terms) sum = saturating_sum(sum, term);
  return checked(op, terms, " + ", sum);
}

void check_dims(std::string_view op, std::span<const std::int64_t> dims) {
  const auto shape = [&] { return "[" + joined(dims, ",") + "]"; };
  if (dims.size() > Shape::max_rank)
    fail(ErrorCode::invalid_argument, op,
         shape() + " has " + std::to_string(dims.size()) + " dimensions, more than the " +
             std::to_string(Shape::max_rank) + " there can be.");
  bool is_empty = false;
  std::int64_t count = 1;  // zeros left out: products of the others are computed for empty tensors too
  for (const std::int64_t dim : dims) {
    if (dim < 0)
      fail(ErrorCode::invalid_argument, op, "a dimension of " + shape() + " is " + std::to_string(dim) + ", below 0.");
    is_empty = is_empty || dim == 0;
    if (dim != 0) count = saturating_product(count, dim);
  }
  if (count <= Shape::max_size) return;
  fail(ErrorCode::out_of_memory, op,
       shape() + (is_empty ? " is empty, but without its zeros would have " : " has ") + counted(count) +
           " elements, more than the " + std::to_string(Shape::max_size) + " there can be.");
}

Shape result_shape(std::string_view op, std::span<const std::int64_t> dims) {
  check_dims(op, dims);
  return Shape(dims);
}

std::uint32_t word_of(std::int64_t value) {
  if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::uint32_t>::max())
    fail(ErrorCode::invalid_argument, "kernel",
         "the parameter " + std::to_string(value) + " does not fit into 32 bits.");
  return static_cast<std::uint32_t>(value);
}

void fail_narrowing(const std::string& number) {
  fail(ErrorCode::unsupported, "device", "the size " + number + " is beyond what its interface can be given.");
}

}  // namespace tessera
