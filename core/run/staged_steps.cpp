#include "core/run/staged_steps.h"

#include "core/base/sizes.h"

namespace tessera {
namespace {

// The stages of one way. `core`: the step's core alone, which has the places of the operands in their storages.
class StageWriter {
 public:
  StageWriter(const Step& step, const Step& core, int first_storage)
      : step_(step), core_(core), first_storage_(first_storage) {}

  StepVariant variant_of(const FamilyStages& stages) {
    StepVariant variant{.has_other_terms = true};
    for (const FamilyStage& stage : stages) {
      const bool is_last = &stage == &stages.back();
      variant.name += (variant.name.empty() ? "" : " > ") + variant_name(stage.family);
      Step step = without_work_after(stage, is_last ? core_.kernel.core.dtype : stored_as, variant.own_storages);
      if (is_last) {
        take_epilogue(step, step_);
      } else {
        step.output = first_storage_ + static_cast<int>(variant.own_storages.size());
        variant.own_storages.push_back({stored_as, stage.elements});
      }
      variant.steps.push_back(with_family(step, stage.family));
    }
    return variant;
  }

 private:
  static constexpr DType stored_as = DType::f32;

  Step without_work_after(const FamilyStage& stage, DType dtype, const std::vector<StorageSpec>& stored) const {
    Step step;
    step.kernel.core.dtype = dtype;
    step.kernel.expression.lines = {{.kind = Expression::Kind::core, .dtype = dtype}};
    step.words = {word_of(stage.elements)};
    const auto operands = static_cast<int>(core_.kernel.operands.size());
    for (const int operand : stage.operands) {
      if (operand < operands) add_operand(step, static_cast<std::size_t>(operand));
      else add_stored(step, operand - operands, stored);
    }
    return step;
  }

  void add_operand(Step& step, std::size_t operand) const {
    const auto first = core_.words.begin() + core_.kernel.first_word_of_input(static_cast<int>(operand));
    const KernelInput& input = core_.kernel.inputs[operand];
    add_input(step, step_.inputs[step_.kernel.operands[operand].lines[0].index], input,
              core_.operand_elements[operand]);
    step.words.insert(step.words.end(), first, first + 1 + 3 * input.terms);
  }

  void add_stored(Step& step, int storage, const std::vector<StorageSpec>& stored) const {
    add_input(step, first_storage_ + storage, {.dtype = stored_as, .access = Access::dense},
              stored[static_cast<std::size_t>(storage)].elements);
    step.words.push_back(0);
  }

  static void add_input(Step& step, int item, KernelInput input, std::int64_t elements) {
    const auto number = static_cast<std::uint16_t>(step.inputs.size());
    input.operand = number;
    step.kernel.operands.push_back({{{.kind = Expression::Kind::input, .dtype = input.dtype, .index = number}}});
    step.kernel.inputs.push_back(input);
    step.inputs.push_back(item);
    step.operand_elements.push_back(elements);
  }

  const Step& step_;
  const Step& core_;
  const int first_storage_;
};

}  // namespace

std::vector<StepVariant> staged_steps(const Step& step, const Limits& limits, int first_storage) {
  std::vector<StepVariant> variants;
  if (step.pixel_kernel || !step.family || !step.family->in_stages) return variants;
  const std::optional<Step> core = core_alone(step);
  if (!core) return variants;
  StageWriter writer(step, *core, first_storage);
  for (const FamilyStages& stages : step.family->in_stages(family_of(step), use_of(step, limits)))
    variants.push_back(writer.variant_of(stages));
  return variants;
}

}  // namespace tessera
