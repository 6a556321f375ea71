#include <tessera/random.h>

#include <cmath>

#include "core/kernel/random_parameters.h"
#include "core/ops/family.h"
#include "core/run/context_impl.h"

namespace tessera {
namespace {

constexpr KernelEntry<RandomUniformParameters> random_uniform{{.name = "random_uniform", .file = "random"}};
constexpr KernelEntry<RandomNormalParameters> random_normal{{.name = "random_normal", .file = "random"}};
constexpr KernelEntry<RandomIntegersParameters> random_integers{{.name = "random_integers", .file = "random"}};

Seed halves_of(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

Tensor random_tensor(const Context& context, const Shape& shape, DType dtype, Family family) {
  return TensorAccess::tensor(
      make_node(ContextAccess::impl(context).shared_from_this(), shape, dtype, std::move(family)));
}

[[noreturn]] void refuse_range(std::string_view op, const std::string& low, const std::string& high) {
  fail(ErrorCode::invalid_argument, op,
       "the range from low (" + low + ") to high (" + high + ") is empty or not finite.");
}

}  // namespace

Tensor uniform(Context& context, const Shape& shape, std::uint64_t seed, float low, float high) {
  if (!(low < high) || !std::isfinite(high - low)) refuse_range("uniform", std::to_string(low), std::to_string(high));
  return random_tensor(
      context, shape, DType::f32,
      random_uniform.with(
          {.seed = halves_of(seed), .zero = 0, .low = low, .range = high - low, .highest = std::nextafter(high, low)}));
}

Tensor normal(Context& context, const Shape& shape, std::uint64_t seed, float mean, float stddev) {
  if (!(stddev >= 0))
    fail(ErrorCode::invalid_argument, "normal",
         "stddev (" + std::to_string(stddev) + ") is below 0, for a mean of " + std::to_string(mean) + ".");
  return random_tensor(context, shape, DType::f32,
                       random_normal.with({.seed = halves_of(seed), .mean = mean, .deviation = stddev}));
}

Tensor uniform_integers(Context& context, const Shape& shape, std::uint64_t seed, std::int32_t low, std::int32_t high) {
  if (low >= high) refuse_range("uniform_integers", std::to_string(low), std::to_string(high));
  return random_tensor(context, shape, DType::i32,
                       random_integers.with({.seed = halves_of(seed), .low = low, .range = std::int64_t{high} - low}));
}

}  // namespace tessera
