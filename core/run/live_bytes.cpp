#include "core/run/live_bytes.h"

#include <algorithm>
#include <utility>

#include "core/base/sizes.h"
#include "core/run/captured_pixels.h"

namespace tessera {
namespace {

constexpr std::size_t storage_slot(int index) { return static_cast<std::size_t>(index); }

}  // namespace

std::uint64_t bytes_of(const Plan& plan, const Graph& graph, int storage) {
  const std::size_t items = graph.items.size();
  if (storage_slot(storage) < items) {
    const GraphItem& item = graph.at(storage);
    return byte_count(item.shape().size(), item.dtype());
  }
  const StorageSpec& spec = plan.own_storages[storage_slot(storage) - items];
  return byte_count(spec.elements, spec.dtype);
}

std::uint64_t live_bytes(const Plan& plan, const Graph& graph) {
  std::vector<std::size_t> last_reader(graph.items.size() + plan.own_storages.size(), 0);
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    for (const int input : plan.steps[i].inputs) last_reader[storage_slot(input)] = i;
  const std::vector<bool> is_kept = outlives_plan(graph, plan);
  std::vector<std::uint64_t> bytes(last_reader.size(), 0);  // of those that are alive
  std::uint64_t live = 0, most = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const bool is_of_captured =
        step.pixel_kernel && std::ranges::all_of(step.inputs, [&](int input) { return is_captured(graph, input); });
    if (is_of_captured) continue;
    for (const int output : Plan::outputs_of(step)) {
      live -= bytes[storage_slot(output)];
      bytes[storage_slot(output)] = bytes_of(plan, graph, output);
      live += bytes[storage_slot(output)];
    }
    most = std::max(most, live);
    for (const int input : step.inputs)
      if (last_reader[storage_slot(input)] == i && !is_kept[storage_slot(input)])
        live -= std::exchange(bytes[storage_slot(input)], 0);
  }
  return most;
}

}  // namespace tessera
