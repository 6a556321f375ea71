#include "core/run/captured_pixels.h"

#include <algorithm>
#include <utility>

#include "core/memory/pool.h"

namespace tessera {
namespace {

constexpr std::size_t slot(int index) { return static_cast<std::size_t>(index); }

bool is_captured(const Graph& graph, int item) {
  return slot(item) < graph.items.size() && graph.at(item).is_stored && !graph.at(item).node->is<Placeholder>();
}

}  // namespace

CapturedPixels::CapturedPixels(const Graph& graph, const Plan& plan) {
  for (const Step& step : plan.steps) {
    if (!step.pixel_kernel || step.inputs.size() != 1 || step.pixel_results.size() != 1) continue;
    const int storage = step.pixel_results.front().item, read = step.inputs.front();
    if (storage >= static_cast<int>(graph.items.size()) && is_captured(graph, read)) images_.push_back({storage, read});
  }
}

void CapturedPixels::take(Pool& pool, Buffers& of_run) {
  for (Image& image : images_) {
    std::shared_ptr<Buffer> pixels = std::exchange(image.pixels, nullptr);
    const Buffer* source = of_run[slot(image.captured)].get();
    // A host that was lent the tensor may have written it.
    if (!pixels || !pixels->is_resident() || pool.is_recording() || source != image.made_of || source->was_lent() ||
        source->version() != image.version)
      continue;
    of_run.resize(std::max(of_run.size(), slot(image.storage) + 1));
    pool.set_droppable(*pixels, false);
    of_run[slot(image.storage)] = std::move(pixels);
  }
}

bool CapturedPixels::has(int storage) const {
  return std::ranges::find(images_, storage, &Image::storage) != images_.end();
}

std::vector<CapturedPixels::Image> CapturedPixels::images_in(const Buffers& of_run) const {
  std::vector<Image> images;
  for (const Image& image : images_) {
    const Buffer& source = *of_run[slot(image.captured)];
    if (source.was_lent() || source.is_borrowed()) continue;
    images.push_back({image.storage, image.captured, of_run[slot(image.storage)], &source, source.version()});
  }
  return images;
}

void CapturedPixels::keep(Pool& pool, std::span<const Image> images) {
  for (const Image& made : images) {
    const auto own = std::ranges::find(images_, made.storage, &Image::storage);
    pool.set_droppable(*made.pixels, true);
    *own = made;
  }
}

}  // namespace tessera
