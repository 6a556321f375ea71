#include "core/run/variants.h"

#include <algorithm>

#include "core/run/context_state.h"
#include "core/run/context_impl.h"
#include "core/run/variant_trial.h"

namespace tessera {
namespace {

// Another number makes all that was kept before count as none: for kernels whose text has changed, but not their name.
constexpr std::string_view version_of_choices = "variant 1\n";

std::string file_key(const std::string& key) { return std::string(version_of_choices) + key; }

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

}  // namespace

Variants::Variants(ContextState& context) : context_(context) { clear(); }

void Variants::clear() {
  const DeviceInfo& device = context_.backend->device();
  are_on_ = context_.options.variants && has_threads() && device.backend != BackendKind::cpu;
  choices_.clear();
  trials_ = 0;
  files_.reset();
  if (are_on_ && !context_.options.cache_dir.empty())
    files_ = std::make_unique<DiskCache>(context_.options.cache_dir,
                                         device.vendor + '\n' + device.name + '\n' + device.driver,
                                         context_.owner.messages->sink());
}

void Variants::force(std::size_t number) {
  forced_ = number;
  are_on_ = true;
  context_.plans.clear();
}

ChooseVariant Variants::chooser() {
  if (!are_on_) return {};
  return [this](const std::string& key, std::span<const std::string> names) { return choose(key, names); };
}

std::size_t Variants::choose(const std::string& key, std::span<const std::string> names) {
  if (forced_) return *forced_ % names.size();
  if (const auto known = choices_.find(key); known != choices_.end()) return known->second.variant;
  if (choices_.size() >= most_choices) return 0;
  Choice& choice = choices_[key];
  if (!files_) return 0;
  const std::vector<std::byte> kept = files_->load(as_bytes(file_key(key)));
  const std::string kept_name(reinterpret_cast<const char*>(kept.data()), kept.size());
  const auto name = std::ranges::find(names, kept_name);
  if (name == names.end()) return 0;
  ++context_.stats.variants_remembered;
  choice.is_open = false;
  return choice.variant = static_cast<std::size_t>(name - names.begin());
}

bool Variants::are_taken_by(const Plan& plan) {
  return !are_on_ || std::ranges::all_of(plan.choices, [&](const StepChoice& choice) {
    return choose(choice.key, choice.names) == choice.taken;
  });
}

void Variants::ran(const Plan& plan, const Graph& graph, bool is_program) {
  if (!are_on_ || forced_ || plan.choices.empty()) return;
  if (plan.tiers->runs() < context_.trials.runs_before(is_program)) return;
  for (const StepChoice& choice : plan.choices) {
    const auto known = choices_.find(choice.key);
    if (known == choices_.end() || !known->second.is_open || trials_ >= most_trials) continue;
    known->second.is_open = false;
    ++trials_;
    context_.trials.add(context_, std::make_unique<VariantTrial>(choice, operands_of(choice, graph)));
  }
}

void Variants::decided(const StepChoice& choice, std::optional<std::size_t> winner, KernelUses uses) {
  if (!winner) return;
  Choice& known = choices_[choice.key];
  known.variant = *winner;
  known.uses = std::move(uses);
  if (*winner > 0) ++context_.stats.variants_taken;
  if (files_) files_->store(as_bytes(file_key(choice.key)), as_bytes(choice.names[*winner]));
}

}  // namespace tessera
