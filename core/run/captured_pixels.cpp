#include "core/run/captured_pixels.h"

#include <algorithm>
#include <utility>

#include "core/memory/pool.h"

namespace tessera {
namespace {

constexpr std::size_t slot(int index) { return static_cast<std::size_t>(index); }

// Whether a step lays a captured tensor out, and does nothing else.
bool is_layout(const Graph& graph, const Step& step) {
  return step.pixel_kernel && step.inputs.size() == 1 && step.pixel_results.size() == 1 &&
         step.pixel_results.front().item >= static_cast<int>(graph.items.size()) &&
         is_captured(graph, step.inputs.front());
}

// All that the elements of an image depend on, besides those of the tensor.
std::string layout_text(const Graph& graph, const Step& step) {
  const PixelLayout& pixels = step.pixel_results.front().layout;
  std::string text;
  for (const std::int64_t size :
       {pixels.width, pixels.height, std::int64_t{pixels.channels}, std::int64_t{pixels.is_half},
        std::int64_t{pixels.layers}, std::int64_t{pixels.slices}})
    text += std::to_string(size) + ' ';
  for (const std::uint32_t word : step.words) text += std::to_string(word) + ' ';
  for (const int number : step.numbers) text += std::to_string(graph.numbers[slot(number)].value.bits) + ' ';
  return text + step.pixel_kernel->key.text();
}

}  // namespace

bool is_captured(const Graph& graph, int item) {
  return item >= 0 && slot(item) < graph.items.size() && graph.at(item).is_stored &&
         !graph.at(item).node->is<Placeholder>();
}

CapturedPixels::CapturedPixels(const Graph& graph, const Plan& plan) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (is_layout(graph, step)) {
      images_.push_back({step.pixel_results.front().item, step.inputs.front(), i, layout_text(graph, step)});
      continue;
    }
    for (const int input : step.inputs)
      if (is_captured(graph, input)) read_in_order_.push_back(input);
  }
  if (images_.empty()) return;
  for (const Graph::Place& place : graph.wanted)
    if (is_captured(graph, place.item)) read_in_order_.push_back(place.item);
}

void CapturedPixels::take(Pool& pool, Buffers& of_run) {
  if (pool.is_recording()) return;
  for (Image& image : images_) {
    std::shared_ptr<Buffer> pixels = std::exchange(image.pixels, nullptr);
    const Buffer& original = *of_run[slot(image.captured)];
    if (original.was_lent()) continue;  // to a host, which may have written it
    if (!pixels || !original.laid_out().has(*pixels, original.version()))
      pixels = original.laid_out().find(image.layout, original.version());
    if (!pixels) continue;
    pool.set_droppable(*pixels, false);
    of_run[slot(image.storage)] = std::move(pixels);
  }
}

bool CapturedPixels::has(int storage) const {
  return std::ranges::find(images_, storage, &Image::storage) != images_.end();
}

// Views of one storage are several items.
bool CapturedPixels::original_can_leave(const Image& image, const Buffers& of_run) const {
  const Buffer* original = of_run[slot(image.captured)].get();
  return original->has_copy() &&
         std::ranges::none_of(read_in_order_, [&](int item) { return of_run[slot(item)].get() == original; });
}

std::vector<std::size_t> CapturedPixels::steps_to_run(const Buffers& of_run) const {
  std::vector<std::size_t> steps;
  for (const Image& image : images_) {
    const bool is_made = of_run[slot(image.storage)] != nullptr;
    if (!is_made && original_can_leave(image, of_run)) steps.push_back(image.step);
  }
  return steps;
}

std::vector<CapturedPixels::Made> CapturedPixels::images_in(const Buffers& of_run) const {
  std::vector<Made> made;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const std::shared_ptr<Buffer>&original = of_run[slot(images_[i].captured)],
          &pixels = of_run[slot(images_[i].storage)];
    if (!pixels || original->was_lent() || original->is_borrowed()) continue;
    const bool is_new = !original->laid_out().has(*pixels, original->version());
    made.push_back(
        {i, pixels, original, original->version(), is_new, is_new && original_can_leave(images_[i], of_run)});
  }
  return made;
}

void CapturedPixels::keep(Pool& pool, std::span<const Made> images) {
  for (const Made& made : images) {
    Image& image = images_[made.image];
    pool.set_droppable(*made.pixels, true);
    if (made.is_new) pool.add_laid_out(*made.original, image.layout, made.version, made.pixels);
    image.pixels = made.pixels;
  }
  for (const Made& made : images)
    if (made.original_can_leave) pool.leave_to_laid_out(*made.original);
}

void CapturedPixels::give_back(Pool& pool, std::span<const Made> images) noexcept {
  for (const Made& made : images) {
    if (made.is_new) continue;
    pool.set_droppable(*made.pixels, true);
    images_[made.image].pixels = made.pixels;
  }
}

}  // namespace tessera
