#include "core/run/step_variants.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/run/block_plan.h"
#include "core/run/padded_steps.h"
#include "core/run/staged_steps.h"

namespace tessera {
namespace {

std::vector<Family> families_of(const Step& step, const Limits& limits) {
  const Family own = family_of(step);
  const FamilyUse use = use_of(step, limits);
  std::vector<Family> families{own};
  if (!own.entry->variants) return families;
  for (Family& other : own.entry->variants(own, use)) {
    const bool is_known = std::ranges::any_of(
        families, [&](const Family& known) { return known.entry == other.entry && known.options == other.options; });
    if (!is_known) families.push_back(std::move(other));
  }
  return families;
}

bool has_families(const Step& step, const Limits& limits) {
  return limits.workgroups && !step.pixel_kernel && step.family && step.words[0] > 0 &&
         (step.family->variants || step.family->padded || step.family->in_stages);
}

// What a plan does in the place of a step without measuring; nothing where that is the step itself.
std::optional<StepVariant> usual_variant(const Step& step, const Limits& limits, int first_storage) {
  if (!step.family->padded) return std::nullopt;
  PaddedSteps padded = padded_steps(step, limits, first_storage);
  if (!padded.pay) return std::nullopt;
  return std::move(padded.ways[0]);
}

}  // namespace

FamilyUse use_of(const Step& step, const Limits& limits) {
  return {step.words[0], step.kernel.core.dtype, limits.octets, limits.workgroups};
}

Family family_of(const Step& step) {
  const auto words = step.words.begin() + 1;
  return {.entry = step.family,
          .options = step.kernel.core.options,
          .words = {words, words + step.kernel.core.words},
          .workgroups = step.workgroups};
}

std::string variant_name(const Family& family) {
  std::string name(family.entry->name);
  for (const std::int32_t option : family.options) name += '/' + std::to_string(option);
  return name;
}

Step with_family(const Step& before, const Family& family) {
  Step step = before;
  KernelCore& core = step.kernel.core;
  const auto words = step.words.begin() + 1;
  step.words.insert(step.words.erase(words, words + core.words), family.words.begin(), family.words.end());
  step.workgroups = family.workgroups;
  step.family = family.entry;
  core.file = family.entry->file;
  core.entry = family.entry->name;
  core.options = family.options;
  core.words = static_cast<int>(family.words.size());
  core.is_cooperative = family.entry->is_cooperative;
  core.in_octets = family.entry->in_octets;
  core.parameter_names = &family.entry->parameter_names();
  core.option_names = &family.entry->option_names();
  step.kernel.make_key();
  return step;
}

std::vector<StepVariant> variants_of(const Step& step, const Limits& limits, int first_storage) {
  if (limits.draws_blocks) return variants_in_blocks(step, limits, first_storage);
  std::vector<StepVariant> variants;
  if (!has_families(step, limits)) return variants;
  for (const Family& family : families_of(step, limits))
    variants.push_back({variant_name(family), {with_family(step, family)}, {}});
  PaddedSteps padded = padded_steps(step, limits, first_storage);
  const auto place = padded.pay ? variants.begin() : variants.end();
  variants.insert(place, std::make_move_iterator(padded.ways.begin()), std::make_move_iterator(padded.ways.end()));
  std::ranges::move(staged_steps(step, limits, first_storage), std::back_inserter(variants));
  return variants;
}

std::optional<Step> core_alone(const Step& step) {
  const Kernel& before = step.kernel;
  for (const Expression& operand : before.operands)
    if (operand.lines.size() != 1 || operand.lines[0].kind != Expression::Kind::input) return std::nullopt;
  Step alone{.operand_elements = step.operand_elements, .workgroups = step.workgroups, .family = step.family};
  Kernel& kernel = alone.kernel;
  kernel.core = before.core;
  kernel.operands = before.operands;
  kernel.expression.lines = {{.kind = Expression::Kind::core, .dtype = before.core.dtype}};
  alone.words.assign(step.words.begin(), step.words.begin() + 1 + before.core.words);
  for (Expression& operand : kernel.operands) {
    const int index = operand.lines[0].index;
    operand.lines[0].index = static_cast<std::uint16_t>(alone.inputs.size());
    alone.inputs.push_back(static_cast<int>(alone.inputs.size()));
    kernel.inputs.push_back(before.inputs[static_cast<std::size_t>(index)]);
    const auto first = step.words.begin() + before.first_word_of_input(index);
    alone.words.insert(alone.words.end(), first, first + 1 + 3 * kernel.inputs.back().terms);
  }
  alone.output = static_cast<int>(alone.inputs.size());
  kernel.make_key();
  return alone;
}

void take_epilogue(Step& to, const Step& from) {
  const Kernel& before = from.kernel;
  Kernel& kernel = to.kernel;
  std::vector<std::uint16_t> places(before.inputs.size());
  for (std::size_t i = 0; i < before.inputs.size(); ++i) {
    if (before.inputs[i].operand != KernelInput::none) continue;
    places[i] = static_cast<std::uint16_t>(kernel.inputs.size());
    kernel.inputs.push_back(before.inputs[i]);
    to.inputs.push_back(from.inputs[i]);
    const auto first = from.words.begin() + before.first_word_of_input(static_cast<int>(i));
    to.words.insert(to.words.end(), first, first + 1 + 3 * before.inputs[i].terms);
  }
  kernel.expression = before.expression;
  for (Expression::Line& line : kernel.expression.lines)
    if (line.kind == Expression::Kind::input) line.index = places[line.index];
  kernel.numbers = before.numbers;
  to.numbers = from.numbers;
  to.words.insert(to.words.end(), from.words.begin() + before.first_word_of_numbers(), from.words.end());
  to.output = from.output;
}

std::size_t taken_variant(Plan& plan, const Step& step, std::vector<std::string> names, const ChooseVariant& choose) {
  if (!choose || names.size() < 2) return 0;
  std::optional<Step> core = core_alone(step);
  if (!core) return 0;
  std::string key = core->kernel.key.text();
  for (const std::uint32_t word : core->words) key += ' ' + std::to_string(word);
  for (const std::string& name : names) key += '\n' + name;
  const std::size_t taken = choose(key, names);
  plan.choices.push_back({step, std::move(*core), std::move(key), std::move(names), taken, step.output});
  return taken;
}

void share_out_among_cores(Plan& plan, const Limits& limits) {
  if (limits.cores == 0) return;
  for (Step& step : plan.steps)
    if (!step.pixel_kernel && step.family && step.family->for_cores)
      step = with_family(step, step.family->for_cores(family_of(step), use_of(step, limits), limits.cores));
}

namespace {

StepVariant chosen_variant(Plan& plan, const Step& step, const Limits& limits, int first_storage,
                           const ChooseVariant& choose) {
  std::vector<StepVariant> variants = variants_of(step, limits, first_storage);
  std::vector<std::string> names;
  for (const StepVariant& variant : variants) names.push_back(variant.name);
  return std::move(variants[taken_variant(plan, step, std::move(names), choose)]);
}

}  // namespace

void take_variants(Plan& plan, const Graph& graph, const Limits& limits, const ChooseVariant& choose) {
  for (Step& step : std::exchange(plan.steps, {})) {
    const auto first_storage = static_cast<int>(graph.items.size() + plan.own_storages.size());
    std::optional<StepVariant> taken;
    if (has_families(step, limits))
      taken = choose ? chosen_variant(plan, step, limits, first_storage, choose)
                     : usual_variant(step, limits, first_storage);
    if (taken) {
      std::ranges::move(taken->steps, std::back_inserter(plan.steps));
      std::ranges::move(taken->own_storages, std::back_inserter(plan.own_storages));
    } else {
      plan.steps.push_back(std::move(step));
    }
  }
}

}  // namespace tessera
