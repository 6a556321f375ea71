#include "core/run/block_layouts.h"

namespace tessera {
namespace {

// Whether the kernel of a step can write its result in a layout.
bool can_write(const Step& step, const BlockText& layout, const Limits& limits) {
  return !layout.place.empty() && !step.pixel_kernel && !step.kernel.key.empty() && step.siblings == 1 &&
         step.kernel.core.siblings == 1 &&
         static_cast<int>(step.words.size() + layout.words.size()) <= limits.max_words;
}

void write_in_layout(Step& step, const BlockLayout& layout) {
  Kernel& kernel = step.kernel;
  const auto first = static_cast<std::size_t>(kernel.first_word_of_layout());
  const std::vector<std::uint32_t>& words = layout.text.words;
  step.words.insert(step.words.begin() + static_cast<std::ptrdiff_t>(first), words.begin(), words.end());
  kernel.layout = {with_words(layout.text.place, first), static_cast<int>(words.size())};
  std::vector<Expression::Line>& lines = kernel.expression.lines;
  if (const DType dtype = layout_dtype(lines.back().dtype); dtype != lines.back().dtype)
    lines.push_back(
        {.kind = Expression::Kind::cast, .dtype = dtype, .operands = {static_cast<std::uint16_t>(lines.size() - 1)}});
  kernel.make_key();
  step.output = layout.storage;
}

}  // namespace

void store_in_layouts(Plan& plan, const std::vector<bool>& is_kept, const Limits& limits,
                      std::span<const BlockLayout> layouts) {
  std::vector<int> readers(is_kept.size(), 0);
  std::vector<Step*> writer(is_kept.size(), nullptr);
  for (Step& step : plan.steps) {
    for (const int input : step.inputs) ++readers[static_cast<std::size_t>(input)];
    for (const int output : Plan::outputs_of(step)) writer[static_cast<std::size_t>(output)] = &step;
  }
  std::vector<const Step*> not_needed;
  for (const BlockLayout& layout : layouts) {
    const auto item = static_cast<std::size_t>(layout.item);
    if (is_kept[item] || readers[item] != 1 || !writer[item] || !can_write(*writer[item], layout.text, limits))
      continue;
    not_needed.push_back(writer[static_cast<std::size_t>(layout.storage)]);
    write_in_layout(*writer[item], layout);
    for (StepChoice& choice : plan.choices)
      if (choice.storage == layout.item) choice.storage = layout.storage;
  }
  const Step* const first = plan.steps.data();
  std::vector<bool> is_left(plan.steps.size(), true);
  for (const Step* step : not_needed) is_left[static_cast<std::size_t>(step - first)] = false;
  std::vector<Step> steps;
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    if (is_left[i]) steps.push_back(std::move(plan.steps[i]));
  plan.steps = std::move(steps);
}

}  // namespace tessera
