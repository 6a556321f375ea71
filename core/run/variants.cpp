#include "core/run/variants.h"

#include <algorithm>

#include "core/run/context_state.h"
#include "core/run/context_impl.h"
#include "core/run/variant_trial.h"

namespace tessera {
namespace {

// Another number makes all that was kept before count as none: for kernels whose text has changed, but not their name.
constexpr std::string_view version_of_choices = "variant 2\n";

// Of which some may differ by rounding from the usual ones, and others may not.
std::string file_key(const std::string& key, bool has_same_bits) {
  return std::string(version_of_choices) + (has_same_bits ? "same bits\n" : "") + key;
}

std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// The storages that the operands of a step's core have.
std::vector<StorageSpec> operands_of(const StepChoice& choice, const Graph& graph) {
  std::vector<StorageSpec> specs;
  for (const Expression& operand : choice.step.kernel.operands) {
    const auto input = static_cast<std::size_t>(operand.lines[0].index);
    const GraphItem& item = graph.at(choice.step.inputs[input]);
    specs.push_back({item.dtype(), item.start + item.shape().size(), item.start == 0 ? item.layout : 0});
  }
  return specs;
}

// What a step takes that writes the storage, and those before it that write storages of the plan's own for it, unless
// they are a choice of their own.
double time_of(const Plan& plan, int storage, std::size_t items) {
  double time = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const std::vector<int> outputs = Plan::outputs_of(plan.steps[i]);
    if (std::ranges::find(outputs, storage) == outputs.end()) continue;
    time += plan.use->time_of(i);
    for (const int input : plan.steps[i].inputs)
      if (static_cast<std::size_t>(input) >= items && input != storage &&
          std::ranges::find(plan.choices, input, &StepChoice::storage) == plan.choices.end())
        time += time_of(plan, input, items);
  }
  return time;
}

}  // namespace

Variants::Variants(ContextState& context) : context_(context) { clear(); }

void Variants::clear() {
  const DeviceInfo& device = context_.backend->device();
  choices_.clear();
  trials_ = on_trial_ = 0;
  ++decisions_;
  files_.reset();
  if (are_on() && !context_.options.cache_dir.empty())
    files_ = std::make_unique<DiskCache>(context_.options.cache_dir,
                                         device.vendor + '\n' + device.name + '\n' + device.driver,
                                         context_.owner.messages->sink());
}

bool Variants::are_on() const { return forced_ || context_.trials.try_variants(); }

void Variants::force(std::size_t number) {
  forced_ = number;
  ++decisions_;
  context_.plans.clear();
}

ChooseVariant Variants::chooser() {
  if (!are_on()) return {};
  return [this](const std::string& key, std::span<const std::string> names) { return choose(key, names); };
}

std::size_t Variants::choose(const std::string& key, std::span<const std::string> names) {
  if (forced_) return *forced_ % names.size();
  if (const auto known = choices_.find(key); known != choices_.end()) return known->second.variant;
  if (choices_.size() >= most_choices) return 0;
  Choice& choice = choices_[key];
  if (!files_) return 0;
  const std::vector<std::byte> kept = files_->load(as_bytes(file_key(key, !context_.trials.is_eager())));
  const std::string kept_name(reinterpret_cast<const char*>(kept.data()), kept.size());
  const auto name = std::ranges::find(names, kept_name);
  if (name == names.end()) return 0;
  ++context_.stats.variants_remembered;
  choice.is_open = false;
  return choice.variant = static_cast<std::size_t>(name - names.begin());
}

bool Variants::are_taken_by(const Plan& plan) {
  if (plan.choices.empty() || plan.use->decisions_seen == decisions_ || !are_on()) return true;
  const bool are_taken = std::ranges::all_of(
      plan.choices, [&](const StepChoice& choice) { return choose(choice.key, choice.names) == choice.taken; });
  if (are_taken) plan.use->decisions_seen = decisions_;
  return are_taken;
}

void Variants::ran(const Plan& plan, const Graph& graph) {
  if (forced_ || plan.use->choices_are_tried || !are_on()) return;
  bool are_tried = true;
  for (const StepChoice& choice : plan.choices) {
    const auto known = choices_.find(choice.key);
    if (known == choices_.end() || !known->second.is_open || trials_ >= most_trials) continue;
    const double time = time_of(plan, choice.storage, graph.items.size());
    if (!plan.use->may_try(context_.trials, time, context_.backend->limits().draws_blocks)) {
      are_tried = false;
      continue;
    }
    known->second.is_open = false;
    ++trials_;
    ++on_trial_;
    context_.trials.add(
        context_, std::make_unique<VariantTrial>(choice, operands_of(choice, graph), !context_.trials.is_eager()));
  }
  plan.use->choices_are_tried = are_tried;
}

void Variants::decided(const StepChoice& choice, std::optional<std::size_t> winner, KernelUses uses) {
  --on_trial_;
  if (!winner) return;
  ++decisions_;
  Choice& known = choices_[choice.key];
  known.variant = *winner;
  known.uses = std::move(uses);
  if (*winner > 0) ++context_.stats.variants_taken;
  if (files_)
    files_->store(as_bytes(file_key(choice.key, !context_.trials.is_eager())), as_bytes(choice.names[*winner]));
}

}  // namespace tessera
