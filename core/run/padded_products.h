// Products of matrices whose rows do not end with a texel, on devices with workgroups: as products with a few columns
// more, for which there are better kernels, and a copy that leaves these out and does the pointwise work that follows.
#pragma once
#include "core/run/step_variants.h"

namespace tessera {

// Variants of a step besides those of its family.
std::vector<StepVariant> padded_products(const Step&, const Limits&, int first_storage);

}  // namespace tessera
