#include "core/run/plan_storages.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tessera {
namespace {

// A result that only steps of the plan see, from the step that makes it to the last one that reads it.
struct Passing {
  int item;
  StorageSpec spec;
  std::uint64_t bytes;
  std::size_t first, last;
};

struct SharedStorage {
  StorageSpec spec;
  std::uint64_t bytes;
  std::vector<const Passing*> users{};

  bool is_free_for(const Passing& result) const {
    return std::ranges::none_of(
        users, [&](const Passing* other) { return result.first <= other->last && other->first <= result.last; });
  }
};

struct Shares {
  std::vector<SharedStorage> storages{};
  std::uint64_t bytes = 0;
};

std::vector<Passing> passing_results(const Backend& backend, const Plan& plan, const Graph& graph,
                                     const std::vector<bool>& is_kept) {
  std::vector<Passing> results;
  std::vector<int> result_of(is_kept.size(), -1);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const bool has_kernel = step.pixel_kernel || !step.kernel.key.empty();  // custom kernels and imports have none
    const std::size_t outputs = step.pixel_kernel ? step.pixel_results.size() : 1;
    for (std::size_t k = 0; has_kernel && k < outputs; ++k) {
      const int item = step.pixel_kernel ? step.pixel_results[k].item : step.output;
      if (item < 0 || is_kept[static_cast<std::size_t>(item)]) continue;
      const StorageSpec spec = spec_of_output(step, graph, k);
      result_of[static_cast<std::size_t>(item)] = static_cast<int>(results.size());
      results.push_back({item, spec, backend.storage_class(spec).bytes, i, plan.steps.size()});
    }
    for (const int input : step.last_uses)
      if (const int result = result_of[static_cast<std::size_t>(input)]; result >= 0)
        results[static_cast<std::size_t>(result)].last = i;
  }
  return results;
}

// The largest results come first. Each joins the storage that has to grow the least for it; where several need not grow
// at all, the smallest of them or, with `largest`, the largest.
Shares share(const Backend& backend, std::span<const Passing> by_size, bool largest) {
  Shares shares;
  for (const Passing& result : by_size) {
    SharedStorage* best = nullptr;
    std::uint64_t least_growth = result.bytes;  // that much a storage of its own takes
    std::optional<StorageSpec> grown;
    for (SharedStorage& storage : shares.storages) {
      if (!storage.is_free_for(result)) continue;
      const std::optional<StorageSpec> spec = backend.shared_by(storage.spec, result.spec);
      if (!spec) continue;
      const std::uint64_t growth = backend.storage_class(*spec).bytes - storage.bytes;
      const bool is_better = growth < least_growth || (best && growth == least_growth && !largest);
      if (!is_better) continue;
      best = &storage, least_growth = growth, grown = spec;
    }
    if (!best) {
      best = &shares.storages.emplace_back(SharedStorage{result.spec, 0});
      grown = result.spec;
    }
    best->spec = *grown;
    best->bytes += least_growth;
    best->users.push_back(&result);
    shares.bytes += least_growth;
  }
  return shares;
}

}  // namespace

StorageSpec spec_of_output(const Step& step, const Graph& graph, std::size_t output) {
  const PixelResult result = step.pixel_kernel ? step.pixel_results[output] : PixelResult{step.output};
  const PixelLayout& pixels = result.layout;
  if (static_cast<std::size_t>(result.item) >= graph.items.size()) {  // a storage of the plan's own
    if (!step.pixel_kernel) return {step.kernel.expression.result(), step.words[0]};
    const std::int64_t elements = pixels.width * pixels.height * pixels.channels * pixels.layers;
    return {step.pixel_kernel->outputs[output].dtype, elements, 0, pixels};
  }
  const GraphItem& item = graph.at(result.item);
  StorageSpec spec{pixels.is_half ? DType::f16 : item.dtype(), item.shape().size() * step.siblings, item.layout,
                   pixels};
  if (result.in_texels) spec.elements = shape_in_texels(item.shape()).size();
  if (pixels.channels > 0) spec.elements = pixels.width * pixels.height * pixels.channels;
  return spec;
}

void PlanStorages::plan(const Backend& backend, const Plan& plan, const Graph& graph,
                        const std::vector<bool>& is_kept) {
  is_planned_ = true;
  std::vector<Passing> results = passing_results(backend, plan, graph, is_kept);
  std::ranges::stable_sort(results, std::ranges::greater{}, &Passing::bytes);
  // Neither way is the better one for all plans.
  Shares shares = share(backend, results, false);
  if (Shares other = share(backend, results, true); other.bytes < shares.bytes) shares = std::move(other);
  storage_of_.assign(is_kept.size(), -1);
  for (const SharedStorage& storage : shares.storages) {
    if (storage.users.size() < 2) continue;
    for (const Passing* user : storage.users)
      storage_of_[static_cast<std::size_t>(user->item)] = static_cast<int>(storages_.size());
    storages_.push_back(storage.spec);
  }
  bytes_ = shares.bytes;
}

const StorageSpec* PlanStorages::shared_by(int item) const {
  const int storage = storage_of_[static_cast<std::size_t>(item)];
  return storage < 0 ? nullptr : &storages_[static_cast<std::size_t>(storage)];
}

}  // namespace tessera
