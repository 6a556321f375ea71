// The ways in which a step can be done: other kernels, or several of them, that give the same values but for rounding.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/run/fuse.h"

namespace tessera {

struct StepVariant {
  std::string name;
  std::vector<Step> steps;                // the last one writes what the step writes
  std::vector<StorageSpec> own_storages;  // between them
  bool has_other_terms = false;           // in its sums, so that the bits of results are others
};

// The first one is what a plan takes without measuring; none where there is no other. Their own storages have numbers
// from `first_storage` on.
std::vector<StepVariant> variants_of(const Step&, const Limits&, int first_storage);

// The step without pointwise work after its core: on items 0, 1 and so on, into the one that follows. None where work
// on the operands is part of the kernel.
std::optional<Step> core_alone(const Step&);

// Gives a step, which has a core and its operands so far, what follows the core of another step, and its output.
void take_epilogue(Step& to, const Step& from);

FamilyUse use_of(const Step&, const Limits&);
Family family_of(const Step&);  // of its core
// The step with another family in the place of its core, and the name of a variant with that family.
Step with_family(const Step&, const Family&);
std::string variant_name(const Family&);

// Asks which of the ways a plan takes, and notes that. The first one where nobody is there to ask.
std::size_t taken_variant(Plan&, const Step&, std::vector<std::string> names, const ChooseVariant&);

// Shares the work of steps out among the cores of a device that has few.
void share_out_among_cores(Plan&, const Limits&);

// Puts variants in the place of steps, on devices with workgroups: without `choose`, those that pay by sizes alone.
void take_variants(Plan&, const Graph&, const Limits&, const ChooseVariant&);

}  // namespace tessera
