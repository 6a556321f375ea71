#include "core/run/tiers.h"

#include <algorithm>

#include "core/run/context_impl.h"
#include "core/run/pixel_image.h"
#include "core/run/plan_storages.h"

namespace tessera {
namespace {

constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }

// The image that a pixel kernel reads by x and y, as one of f32; nothing where no trial can have such an image.
std::optional<StorageSpec> floats_for(const Plan& plan, const Graph& graph, int item, const PixelInput& input) {
  PixelLayout layout{.width = 0, .height = 0, .channels = 4};
  if (at(item) >= graph.items.size()) {
    const PixelLayout& own = plan.own_storages[at(item) - graph.items.size()].pixels;
    layout.width = own.width, layout.height = own.height;
  } else if (const auto image = pixel_image_of(graph.at(item).shape())) {
    layout.width = image->width, layout.height = image->height;
  }
  if (input.is_filtered || layout.width == 0) return std::nullopt;
  return StorageSpec{DType::f32, layout.width * layout.height * 4, 0, layout};
}

// The dispatch of a step, as a trial does it.
std::optional<TierWork> work_of(const Plan& plan, const Graph& graph, const Step& step, const Dispatch& dispatch) {
  TierWork work{
      .words = dispatch.words, .operand_elements = dispatch.operand_elements, .workgroups = dispatch.workgroups};
  if (step.part) return std::nullopt;  // a part reads what others have begun
  const auto layout_of = [&](int item) { return at(item) < graph.items.size() ? graph.at(item).layout : 0; };
  if (!step.pixel_kernel) {
    work.kernel = step.kernel;
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      work.inputs.push_back({step.kernel.inputs[i].dtype, dispatch.inputs[i].elements, layout_of(step.inputs[i])});
    work.outputs.push_back({spec_of_output(step, graph, 0)});
    return work;
  }
  work.pixel_kernel = step.pixel_kernel;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    const PixelInput& input = step.pixel_kernel->inputs[i];
    if (input.place == PixelPlace::elements) {
      work.inputs.push_back({input.dtype, dispatch.inputs[i].elements, layout_of(step.inputs[i])});
    } else if (const auto image = floats_for(plan, graph, step.inputs[i], input)) {
      work.inputs.push_back(*image);
    } else {
      return std::nullopt;
    }
  }
  for (std::size_t i = 0; i < step.pixel_results.size(); ++i) {
    const PixelOutput& output = step.pixel_kernel->outputs[i];
    const std::int64_t width = dispatch.words[0], height = dispatch.words[1];
    if (output.place == PixelPlace::elements)
      work.outputs.push_back({{output.dtype, width * height * output.channels, layout_of(step.pixel_results[i].item)}});
    else
      work.outputs.push_back(
          {{DType::f32, width * height * 4, 0, {.width = width, .height = height, .channels = 4}}, output.channels});
  }
  return work;
}

bool is_empty(const Dispatch& dispatch) {
  return dispatch.pixel_kernel ? dispatch.words[0] == 0 || dispatch.words[1] == 0 : dispatch.output_elements == 0;
}

}  // namespace

std::shared_ptr<Tier> Tiers::tier_for(ContextState& context, TierWork work) {
  const std::string key = (work.pixel_kernel ? work.pixel_kernel->key : work.kernel.key).text() + work.constants.key();
  if (const auto known = tiers_.find(key); known != tiers_.end()) return known->second;
  if (tiers_.size() >= most_tiers) return nullptr;
  auto tier = std::make_shared<Tier>();
  context.trials.add(context, std::make_unique<TierTrial>(std::move(work), tier));
  return tiers_[key] = tier;
}

void Tiers::trim() {
  std::erase_if(tiers_, [](const auto& known) {
    return known.second.use_count() == 1 && known.second->state != Tier::State::on_trial;
  });
}

bool PlanTiers::StepTier::has_numbers_of(const Dispatch& dispatch) const {
  const std::size_t first = dispatch.words.size() - numbers.size();
  const std::span given = std::span(dispatch.words).subspan(first);
  if (varies.empty()) return std::ranges::equal(given, numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!varies[i] && numbers[i] != given[i]) return false;
  return true;
}

void PlanTiers::StepTier::note_numbers(const Dispatch& dispatch, std::size_t count) {
  const std::size_t first = dispatch.words.size() - count;
  if (!knows_numbers) numbers.assign(dispatch.words.begin() + static_cast<std::ptrdiff_t>(first), dispatch.words.end());
  knows_numbers = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (numbers[i] == dispatch.words[first + i]) continue;
    varies.resize(count);
    varies[i] = true;
  }
}

void PlanTiers::use(ContextState& context, const Plan& plan, const Graph& graph, const Step& step, Dispatch& dispatch) {
  if (dispatch.custom || dispatch.pass || is_empty(dispatch)) return;
  if (steps_.empty()) steps_.resize(plan.steps.size());
  const auto index = static_cast<std::size_t>(&step - plan.steps.data());
  StepTier& own = steps_[index];
  if (own.tier) {
    if (own.tier->state != Tier::State::taken) return;
    if (own.has_numbers_of(dispatch)) {
      if (dispatch.pixel_kernel) dispatch.pixel_kernel = &*own.tier->pixel_kernel;
      else dispatch.kernel = &own.tier->kernel;
      return;
    }
    ++context.stats.tiers_fallen_back;
    if (++own.fallbacks < most_fallbacks || own.attempts == most_attempts) return;
    own.tier.reset();
  }
  if (own.attempts == most_attempts) return;
  own.note_numbers(dispatch, step.numbers.size());
  if (context.variants.are_on_trial()) return;  // which may make the plan another one
  if (!plan.use->may_try(context.trials, plan.use->time_of(index), step.pixel_kernel.has_value())) return;
  ++own.attempts;
  own.fallbacks = 0;
  std::optional<TierWork> work = work_of(plan, graph, step, dispatch);
  if (!work) return void(own.attempts = most_attempts);
  work->constants.values.assign(dispatch.words.begin(), dispatch.words.end());
  const std::size_t first_number = dispatch.words.size() - own.numbers.size();
  for (std::size_t i = 0; i < own.varies.size(); ++i)
    if (own.varies[i]) work->constants.values[first_number + i].reset();
  own.tier = context.tiers.tier_for(context, std::move(*work));
  if (!own.tier) own.attempts = most_attempts;
}

}  // namespace tessera
