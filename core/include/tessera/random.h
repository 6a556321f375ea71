// Random numbers, from a seed and an element's index alone: the same call gives the same tensor, in whatever order and
// on whichever device it is computed. The generator is Philox 4x32-10 (Salmon et al., 2011) with the seed as its key.
#pragma once
#include <cstdint>

#include <tessera/context.h>

namespace tessera {

// f32 in [low, high), in steps of (high - low) / 2^24: the same bits on every backend.
TESSERA_API Tensor uniform(Context&, const Shape&, std::uint64_t seed, float low = 0, float high = 1);

// f32 of that mean and standard deviation, by Box and Muller: no further than 5.8 deviations from the mean. Backends
// agree within 1e-5 of a deviation.
TESSERA_API Tensor normal(Context&, const Shape&, std::uint64_t seed, float mean = 0, float stddev = 1);

// i32 in [low, high), the same on every backend. The shares of numbers differ by at most (high - low) / 2^32.
TESSERA_API Tensor uniform_integers(Context&, const Shape&, std::uint64_t seed, std::int32_t low, std::int32_t high);

}  // namespace tessera
