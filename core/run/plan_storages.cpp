#include "core/run/plan_storages.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "core/run/captured_pixels.h"

namespace tessera {
namespace {

// A result, from the step that makes it to the last one that reads it. One that outlives the plan has a storage of just
// its size, which others can have before.
struct StepResult {
  int item;
  StorageSpec spec;
  std::uint64_t bytes;
  std::size_t first, last;
  bool is_kept;
};

struct SharedStorage {
  StorageSpec spec;
  std::uint64_t bytes;
  bool is_kept = false;                    // by one of its users
  std::vector<const StepResult*> users{};  // in the order of the steps, since no two are there at the same time

  bool is_free_for(const StepResult& result) const {
    const auto next = users_after(result);
    return next == users.begin() || (*std::prev(next))->last < result.first;
  }
  void add(const StepResult& result) {
    users.insert(users_after(result), &result);
    is_kept = is_kept || result.is_kept;
  }

 private:
  std::vector<const StepResult*>::const_iterator users_after(const StepResult& result) const {
    const auto comes_before = [](std::size_t step, const StepResult* user) { return step < user->first; };
    return std::upper_bound(users.begin(), users.end(), result.last, comes_before);
  }
};

// A plan with very many results at a time must not take long: the largest storages are worth looking at.
constexpr std::size_t most_looked_at = 64;

struct Shares {
  std::vector<SharedStorage> storages{};
  std::uint64_t bytes = 0;
};

// Programs keep the images of tensors that they captured.
bool is_of_captured(const Step& step, const Graph& graph) {
  return step.pixel_kernel && std::ranges::all_of(step.inputs, [&](int input) { return is_captured(graph, input); });
}

// Without those of custom kernels and of imports, which hosts see, and of kernels with several outputs: not all devices
// draw to textures of different sizes at once.
std::vector<StepResult> results_of(const Backend& backend, const Plan& plan, const Graph& graph) {
  const std::vector<bool> is_kept = outlives_plan(graph, plan);
  std::vector<StepResult> results;
  std::vector<int> result_of(is_kept.size(), -1);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const bool has_one_output = step.pixel_kernel ? step.pixel_results.size() == 1 : !step.kernel.key.empty();
    const int item = !has_one_output ? -1 : step.pixel_kernel ? step.pixel_results[0].item : step.output;
    const bool is_own = item >= static_cast<int>(graph.items.size());
    const bool is_begun = item >= 0 && result_of[static_cast<std::size_t>(item)] >= 0;  // in parts: see Step::part
    if (item >= 0 && !is_begun && !(is_own && is_of_captured(step, graph))) {
      const StorageSpec spec = spec_of_output(step, graph, 0);
      result_of[static_cast<std::size_t>(item)] = static_cast<int>(results.size());
      results.push_back({item, spec, backend.storage_class(spec).bytes, i, plan.steps.size(),
                         is_kept[static_cast<std::size_t>(item)]});
    }
    for (const int input : step.last_uses)
      if (const int result = result_of[static_cast<std::size_t>(input)]; result >= 0)
        results[static_cast<std::size_t>(result)].last = i;
  }
  return results;
}

// The largest results come first. Each joins the storage that has to grow the least for it; where several need not grow
// at all, the smallest of them or, with `largest`, the largest.
Shares share(const Backend& backend, std::span<const StepResult> by_size, bool largest) {
  Shares shares;
  for (const StepResult& result : by_size) {
    SharedStorage* best = nullptr;
    std::uint64_t least_growth = result.bytes;  // that much a storage of its own takes
    std::optional<StorageSpec> grown;
    const std::size_t looked_at = std::min(shares.storages.size(), most_looked_at);
    for (SharedStorage& storage : std::span(shares.storages).first(looked_at)) {
      if (!storage.is_free_for(result)) continue;
      const std::optional<StorageSpec> spec = backend.shared_by(storage.spec, result.spec);
      if (!spec) continue;
      const std::uint64_t growth = backend.storage_class(*spec).bytes - storage.bytes;
      if (growth > 0 && storage.is_kept) continue;
      if (result.is_kept && (growth > 0 || storage.bytes != result.bytes)) continue;
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
    best->add(result);
    shares.bytes += least_growth;
  }
  return shares;
}

StorageSpec spec_of_layout(const Step& step) {
  const auto size = step.words.begin() + step.kernel.first_word_of_layout();
  const DType dtype = step.kernel.expression.result();
  return spec_of_pixels({.width = size[0], .height = size[1], .channels = 4, .is_half = dtype == DType::f16}, dtype);
}

}  // namespace

StorageSpec spec_of_output(const Step& step, const Graph& graph, std::size_t output) {
  if (!step.pixel_kernel) {
    if (step.kernel.is_laid_out()) return spec_of_layout(step);
    if (static_cast<std::size_t>(step.output) >= graph.items.size())  // a storage of the plan's own
      return {step.kernel.expression.result(), step.words[0]};
    const GraphItem& item = graph.at(step.output);
    return {item.dtype(), item.shape().size() * step.siblings, item.layout};
  }
  const PixelResult& result = step.pixel_results[output];
  const PixelLayout& pixels = result.layout;
  if (static_cast<std::size_t>(result.item) >= graph.items.size()) {
    return spec_of_pixels(pixels, step.pixel_kernel->outputs[output].dtype);
  }
  const GraphItem& item = graph.at(result.item);
  StorageSpec spec{pixels.is_half ? DType::f16 : item.dtype(), item.shape().size(), item.layout, pixels};
  if (result.in_texels) spec.elements = shape_in_texels(item.shape()).size();
  if (pixels.channels > 0) spec.elements = pixels.width * pixels.height * pixels.channels;
  return spec;
}

void PlanStorages::plan(const Backend& backend, const Plan& plan, const Graph& graph) {
  is_planned_ = true;
  std::vector<StepResult> results = results_of(backend, plan, graph);
  std::ranges::stable_sort(results, std::ranges::greater{}, &StepResult::bytes);
  // Neither way is the better one for all plans.
  Shares shares = share(backend, results, false);
  if (Shares other = share(backend, results, true); other.bytes < shares.bytes) shares = std::move(other);
  storage_of_.assign(graph.items.size() + plan.own_storages.size(), -1);
  for (const SharedStorage& storage : shares.storages) {
    if (storage.users.size() < 2) continue;
    for (const StepResult* user : storage.users)
      if (!user->is_kept) storage_of_[static_cast<std::size_t>(user->item)] = static_cast<int>(storages_.size());
    storages_.push_back(storage.spec);
  }
}

const StorageSpec* PlanStorages::shared_by(int item) const {
  const int storage = storage_of_[static_cast<std::size_t>(item)];
  return storage < 0 ? nullptr : &storages_[static_cast<std::size_t>(storage)];
}

}  // namespace tessera
