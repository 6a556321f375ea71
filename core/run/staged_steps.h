// Steps whose families can be made in stages (FamilyEntry::in_stages), as steps of one stage each, between which are
// storages. The last one does the pointwise work that follows.
#pragma once
#include "core/run/step_variants.h"

namespace tessera {

// Which is the fastest is measured: none of them is the best by sizes alone.
std::vector<StepVariant> staged_steps(const Step&, const Limits&, int first_storage);

}  // namespace tessera
