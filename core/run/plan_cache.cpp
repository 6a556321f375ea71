#include "core/run/plan_cache.h"

#include <algorithm>

#include "core/base/sizes.h"
#include "core/run/tiers.h"
#include "core/run/variants.h"

namespace tessera {
namespace {

constexpr std::size_t most_plans = 512;

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
  if (!plan->steps.empty()) messages_.debug([&] { return description(*plan, graph); });
  if (known) return *known = plan;
  if (plans_.size() >= most_plans) plans_.drop(1, [](const auto&, const auto&) { return true; });
  return plans_.add(signature, plan);
}

}  // namespace tessera
