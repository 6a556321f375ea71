#include "core/run/plan_cache.h"

#include <algorithm>

#include "core/base/sizes.h"
#include "core/run/plan_storages.h"
#include "core/run/plan_use.h"
#include "core/run/tiers.h"
#include "core/run/variants.h"

namespace tessera {
namespace {

constexpr std::size_t most_plans = 512;
constexpr std::size_t most_known = 64, most_known_items = 32768;
constexpr std::size_t most_alike = 4;  // known graphs with one sketch: nodes are compared with each in turn

// For the log.
std::string description(const Plan& plan, const Graph& graph) {
  std::uint64_t bytes = 0;
  const auto add = [&](int item) {
    if (item >= static_cast<int>(graph.items.size())) return;
    const GraphItem& result = graph.at(item);
    bytes += byte_count(result.shape().size(), result.dtype());
  };
  for (const Step& step : plan.steps) std::ranges::for_each(Plan::outputs_of(step), add);
  const auto count = [](std::uint64_t number, const char* what) {
    return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
  };
  return "plan: " + count(plan.steps.size() + plan.ops_fused, "operation") + " in " +
         count(plan.steps.size(), "kernel") + ", " + std::to_string(bytes) + " bytes of results.";
}

bool are_same(const Limits& a, const Limits& b) {
  return a.max_inputs == b.max_inputs && a.draws_blocks == b.draws_blocks;
}

}  // namespace

std::shared_ptr<const Plan> PlanCache::get(const Graph& graph, const Limits& limits, Variants& variants) {
  const std::string signature =
      signature_of(graph) + ' ' + std::to_string(limits.max_inputs) + (limits.draws_blocks ? " blocks" : "");
  std::shared_ptr<const Plan>* const known = plans_.find(signature);
  if (known && variants.are_taken_by(**known)) {
    ++hits_;
    return *known;
  }
  const auto plan = std::make_shared<Plan>(make_plan(graph, limits, variants.chooser()));
  plan->tiers = std::make_shared<PlanTiers>();
  plan->use = std::make_shared<PlanUse>();
  plan->storages = std::make_shared<PlanStorages>();
  if (!plan->steps.empty()) messages_.debug([&] { return description(*plan, graph); });
  if (known) return *known = plan;
  if (plans_.size() >= most_plans) plans_.drop(1, [](const auto&, const auto&) { return true; });
  return plans_.add(signature, plan);
}

PlanCache::Known PlanCache::find(std::uint64_t sketch, std::span<const Wanted> wanted, const Limits& limits,
                                 Variants& variants) {
  for (auto entry = known_.begin(); entry != known_.end(); ++entry) {
    if (entry->sketch != sketch || !are_same(entry->limits, limits) || !entry->known.graph->is_of(wanted)) continue;
    if (!variants.are_taken_by(*entry->known.plan)) {
      known_.erase(entry);
      return {};
    }
    ++hits_;
    std::rotate(known_.begin(), entry, entry + 1);
    return known_.front().known;
  }
  return {};
}

void PlanCache::keep(std::uint64_t sketch, const Limits& limits, Graph graph, std::shared_ptr<const Plan> plan) {
  if (graph.items.size() > most_known_items) return;
  std::shared_ptr<KnownGraph> known = KnownGraph::of(std::move(graph));
  if (!known) return;
  known_.insert(known_.begin(), {sketch, limits, {std::move(known), std::move(plan)}});
  std::size_t graphs = 0, alike = 0, items = 0;
  std::erase_if(known_, [&](const Sketched& each) {
    items += each.known.graph->size();
    alike += each.sketch == sketch;
    return ++graphs > most_known || items > most_known_items || (each.sketch == sketch && alike > most_alike);
  });
}

}  // namespace tessera
