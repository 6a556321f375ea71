// Steps whose results have lines that do not end with a texel, such as convolutions to 29 channels, on devices with
// octets: as a step that makes a few elements more in each line, for which there are better kernels, and a copy that
// leaves these out and does the pointwise work that follows.
#pragma once
#include "core/run/step_variants.h"

namespace tessera {

struct PaddedSteps {
  std::vector<StepVariant> ways;  // the first one is the best by sizes alone
  bool pay = false;               // by sizes alone: plans take the first one without measuring
};
PaddedSteps padded_steps(const Step&, const Limits&, int first_storage);

}  // namespace tessera
