#include "core/run/padded_steps.h"

#include <algorithm>

namespace tessera {
namespace {

// The step's own kernel, with the wanted elements of padded lines in the place of its core.
Step without_padding(const Step& step, const PaddedFamily& padded, int storage) {
  const Kernel& before = step.kernel;
  Step copy{.inputs = {storage}, .output = step.output, .numbers = step.numbers};
  Kernel& kernel = copy.kernel;
  kernel.inputs = {{.dtype = before.core.dtype, .access = Access::strided, .terms = 2}};
  kernel.numbers = before.numbers;
  kernel.expression = before.expression;
  copy.words = {step.words[0], 0};
  const std::int64_t lines = step.words[0] / padded.line;
  for (const std::int64_t word : {std::int64_t{1}, padded.line, std::int64_t{1}, padded.line, lines, padded.padded})
    copy.words.push_back(word_of(word));
  std::vector<std::uint16_t> places(before.inputs.size());  // of the inputs after the core
  for (std::size_t i = 0; i < before.inputs.size(); ++i) {
    if (before.inputs[i].operand != KernelInput::none) continue;
    places[i] = static_cast<std::uint16_t>(kernel.inputs.size());
    kernel.inputs.push_back(before.inputs[i]);
    if (const Access access = before.inputs[i].access; access == Access::texels || access == Access::repeated)
      kernel.inputs.back().access = Access::strided;
    copy.inputs.push_back(step.inputs[i]);
    const auto first = step.words.begin() + before.first_word_of_input(static_cast<int>(i));
    copy.words.insert(copy.words.end(), first, first + 1 + 3 * before.inputs[i].terms);
  }
  for (Expression::Line& line : kernel.expression.lines) {
    if (line.kind == Expression::Kind::input) line.index = places[line.index];
    else if (line.kind == Expression::Kind::core) line.kind = Expression::Kind::input, line.index = 0;
  }
  copy.words.insert(copy.words.end(), step.words.begin() + before.first_word_of_numbers(), step.words.end());
  kernel.make_key();
  return copy;
}

// The core itself, on the items that the step reads.
Step padded_core(const Step& step, Step core, const Family& family, std::int64_t elements, int storage) {
  for (std::size_t i = 0; i < core.inputs.size(); ++i)
    core.inputs[i] = step.inputs[step.kernel.operands[i].lines[0].index];
  core.output = storage;
  core.words[0] = word_of(elements);
  return with_family(core, family);
}

}  // namespace

PaddedSteps padded_steps(const Step& step, const Limits& limits, int first_storage) {
  if (!step.family->padded) return {};
  const DType dtype = step.kernel.core.dtype;
  const std::optional<PaddedFamily> padded = step.family->padded(family_of(step), use_of(step, limits), limits.cores);
  const std::optional<Step> core = padded ? core_alone(step) : std::nullopt;
  if (!core) return {};
  const std::int64_t elements = padded->elements(step.words[0]);
  PaddedSteps steps{.pay = padded->pays};
  const auto add = [&](const Family& family) {
    steps.ways.push_back(
        {"padded " + variant_name(family),
         {padded_core(step, *core, family, elements, first_storage), without_padding(step, *padded, first_storage)},
         {{dtype, elements}}});
  };
  add(padded->family);
  const FamilyUse use{elements, dtype, limits.octets, limits.workgroups};
  for (const Family& other : padded->family.entry->variants(padded->family, use)) {
    // Others gain nothing by it.
    const bool is_the_same = other.entry == padded->family.entry && other.options == padded->family.options;
    if (!is_the_same && (other.entry->in_octets || other.entry->name == "matmul_tile")) add(other);
  }
  return steps;
}

}  // namespace tessera
