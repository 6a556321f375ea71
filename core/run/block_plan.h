// Products and convolutions on devices without workgroups: a step whose kernel would make one texel at a time becomes
// steps that lay the operands out, make the sums in blocks (core/run/block_texts.h), and bring these into their order,
// with the pointwise work that follows. That pays where the sums read much more than those steps do. Between two such
// steps the elements are stored in the order that the second one reads, if it is the only reader.
#pragma once
#include "core/run/step_variants.h"

namespace tessera {

// Storages come after those of the graph's items and the plan's own.
void plan_blocks(Plan&, const Graph&, const Limits&, const ChooseVariant&);

// The ways of a step (core/run/step_variants.h): blocks of different heights, and the step as it is.
std::vector<StepVariant> variants_in_blocks(const Step&, const Limits&, int first_storage);

}  // namespace tessera
