#include <tessera/random.h>

#include <cmath>

#include "core/run/context_impl.h"
#include "core/ops/family.h"

namespace tessera {
namespace {

// Words: the seed's lower and upper half, then those of the entry.
// A zero that compilers do not know of, low, high - low, the largest float below high.
constexpr FamilyEntry random_uniform{.name = "random_uniform", .file = "random"};
// Mean, standard deviation.
constexpr FamilyEntry random_normal{.name = "random_normal", .file = "random"};
// Low, high - low.
constexpr FamilyEntry random_integers{.name = "random_integers", .file = "random"};

Tensor random_tensor(const Context& context, const Shape& shape, DType dtype, const FamilyEntry& entry,
                     std::uint64_t seed, std::initializer_list<std::uint32_t> words) {
  Family family{.entry = &entry, .words = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  family.words.insert(family.words.end(), words);
  return TensorAccess::tensor(
      std::make_shared<Node>(ContextAccess::impl(context).shared_from_this(), shape, dtype, std::move(family)));
}

[[noreturn]] void refuse_range(std::string_view op, const std::string& low, const std::string& high) {
  fail(ErrorCode::invalid_argument, op,
       "the range from low (" + low + ") to high (" + high + ") is empty or not finite.");
}

}  // namespace

Tensor uniform(Context& context, const Shape& shape, std::uint64_t seed, float low, float high) {
  if (!(low < high) || !std::isfinite(high - low)) refuse_range("uniform", std::to_string(low), std::to_string(high));
  return random_tensor(context, shape, DType::f32, random_uniform, seed,
                       {0u, word_of(low), word_of(high - low), word_of(std::nextafter(high, low))});
}

Tensor normal(Context& context, const Shape& shape, std::uint64_t seed, float mean, float stddev) {
  if (!(stddev >= 0))
    fail(ErrorCode::invalid_argument, "normal",
         "stddev (" + std::to_string(stddev) + ") is below 0, for a mean of " + std::to_string(mean) + ".");
  return random_tensor(context, shape, DType::f32, random_normal, seed, {word_of(mean), word_of(stddev)});
}

Tensor uniform_integers(Context& context, const Shape& shape, std::uint64_t seed, std::int32_t low, std::int32_t high) {
  if (low >= high) refuse_range("uniform_integers", std::to_string(low), std::to_string(high));
  const std::int64_t range = std::int64_t{high} - low;
  return random_tensor(context, shape, DType::i32, random_integers, seed, {word_of(std::int64_t{low}), word_of(range)});
}

}  // namespace tessera
