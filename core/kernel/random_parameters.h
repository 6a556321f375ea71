// The parameters of the kernels in shaders_wgsl/random.wgsl.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

struct Seed {
  Unsigned lower, upper;  // halves of the seed
  TESSERA_PARAMETERS(lower, upper);
};

struct RandomUniformParameters {
  Seed seed;
  Unsigned zero;  // a zero that compilers do not know
  float low, range;
  float highest;  // the largest float that is below low + range
  TESSERA_PARAMETERS(seed, zero, low, range, highest);
};
struct RandomNormalParameters {
  Seed seed;
  float mean, deviation;
  TESSERA_PARAMETERS(seed, mean, deviation);
};
struct RandomIntegersParameters {
  Seed seed;
  Signed low;
  Unsigned range;
  TESSERA_PARAMETERS(seed, low, range);
};

}  // namespace tessera
