// The parameters and options of the kernels in shaders_wgsl/fft.wgsl.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

// One pass of a transform of [outer, count, inner] complex numbers along the middle axis (Stockham). Passes before it
// made transforms of `before` numbers each, that of the numbers s, s + count / before, ... being at k * count / before
// + s for each k; this one joins `radix` of them.
struct FftParameters {
  Unsigned count, inner;
  Unsigned given;  // numbers that the operand has along the axis; the others are zero
  Unsigned kept;   // numbers that the result has: the first ones
  Unsigned before, radix;
  float sign, scale;  // of the angles; of the result
  TESSERA_PARAMETERS(count, inner, given, kept, before, radix, sign, scale);
};

// How the operand has its numbers: complex ones; real ones; the first half of complex ones, each of the others being
// the conjugate of one of those.
enum class FftSource : std::int32_t { complex_numbers, real_numbers, half_spectrum };

struct FftOptions {
  Signed source;    // an FftSource
  Signed together;  // whether the two numbers of a texel read texels
  TESSERA_PARAMETERS(source, together);
};

// Complex products of [outer, count, inner] numbers with [count] other ones.
struct FftProductParameters {
  Unsigned count, inner;
  TESSERA_PARAMETERS(count, inner);
};

}  // namespace tessera
