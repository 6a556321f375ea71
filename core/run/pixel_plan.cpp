#include "core/run/pixel_planner.h"

#include <map>
#include <numeric>

namespace tessera {

std::optional<PixelPlan> PixelPlanner::plan() {
  find_pixel_items();
  for (std::size_t i = 0; i < graph_.shown.size(); ++i) add_shown(i);
  for (int i = count() - 1; i >= 0; --i) place_item(i);
  for (std::size_t i = 0; i < sources_.size(); ++i) place_source(static_cast<int>(i));
  PixelPlan plan;
  for (const Facts& facts : facts_) plan.is_taken.push_back(facts.is_pixels || facts.is_imported);
  for (const std::unique_ptr<PixelDraft>& kernel : kernels_)
    if (std::optional<Step> step = step_of(*kernel)) plan.steps.push_back(std::move(*step));
    else split(*kernel);
  if (plan.steps.size() < kernels_.size()) return std::nullopt;
  plan.own_storages = own_storages_;
  plan.ops_fused = ops_fused_;
  return plan;
}

// Items that hang together have one number.
std::vector<int> PixelPlanner::groups_of(const std::vector<bool>& can) const {
  std::vector<int> group(graph_.items.size());
  std::iota(group.begin(), group.end(), 0);
  const auto root = [&](int item) {
    while (group[static_cast<std::size_t>(item)] != item) item = group[static_cast<std::size_t>(item)];
    return item;
  };
  for (int i = 0; i < count(); ++i)
    for (const GraphItem::Operand& operand : graph_.at(i).operands)
      if (!operand.is_number() && can[static_cast<std::size_t>(i)] && can[static_cast<std::size_t>(operand.item)])
        group[static_cast<std::size_t>(root(operand.item))] = root(i);
  for (int i = 0; i < count(); ++i) group[static_cast<std::size_t>(i)] = root(i);
  return group;
}

void PixelPlanner::find_pixel_items() {
  std::vector<bool> can(graph_.items.size()), is_worth(graph_.items.size());
  for (int i = 0; i < count(); ++i) can[static_cast<std::size_t>(i)] = can_be_pixels(graph_.at(i));
  const std::vector<int> group = groups_of(can);
  const auto note_worth = [&](int item) {
    is_worth[static_cast<std::size_t>(group[static_cast<std::size_t>(item)])] = true;
  };
  for (int i = 0; i < count(); ++i)
    if (can[static_cast<std::size_t>(i)] && (is_image_work(graph_.at(i)) || graph_.at(i).source)) note_worth(i);
  for (const Graph::Shown& shown : graph_.shown) note_worth(graph_.wanted[shown.wanted].item);
  for (int i = 0; i < count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    facts_[at].is_pixels = can[at] && is_worth[static_cast<std::size_t>(group[at])];
  }
  find_small_windows(can);
  for (std::size_t i = 0; i < graph_.wanted.size(); ++i)
    if (const auto& [item, offset, is_for_kernels] = graph_.wanted[i]; item >= 0 && !graph_.is_shown(i)) {
      facts(item).is_wanted = true;
      facts(item).is_in_order = facts(item).is_in_order || !is_for_kernels;
    }
  for (const int item : graph_.kept)
    if (!graph_.at(item).source) facts(item).is_wanted = facts(item).is_in_order = true;
  find_other_readers();
  leave_work_on_elements();
  find_other_readers();
  for (int i = 0; i < count(); ++i)
    if (is_pixels(i)) costs_.add(i);
  // No kernel can sample the texture that it writes.
  for (int i = 0; i < count(); ++i)
    if (const HostSource* source = graph_.at(i).source;
        source && (graph_.at(i).is_overwritten || source->is_sampled_alone() || !is_pixels(i)))
      facts(i) = {.has_other_reader = true};
}

void PixelPlanner::find_small_windows(std::vector<bool> can) {
  constexpr std::int64_t most_taps = 9;
  std::vector<std::int64_t> taps(graph_.items.size());  // 0: no convolution
  for (std::size_t i = 0; i < can.size(); ++i) {
    if (!can[i] || facts_[i].is_pixels) continue;
    taps[i] = taps_of_texels(graph_.items[i]).value_or(0);
    can[i] = taps[i] <= most_taps;
  }
  if (std::ranges::count(taps, 0) == count()) return;
  for (std::size_t i = 0; i < can.size(); ++i) can[i] = can[i] && !facts_[i].is_pixels;
  const std::vector<int> group = groups_of(can);
  std::vector<bool> is_worth(can.size());
  std::map<std::pair<int, int>, int> convolutions;  // of one image, in one group
  for (std::size_t i = 0; i < can.size(); ++i) {
    if (!can[i] || taps[i] == 0) continue;
    const int of_image = ++convolutions[{group[i], graph_.items[i].operands[0].item}];
    if (taps[i] == 1 || of_image > 1) is_worth[static_cast<std::size_t>(group[i])] = true;
  }
  for (std::size_t i = 0; i < can.size(); ++i)
    if (can[i] && is_worth[static_cast<std::size_t>(group[i])]) facts_[i].is_pixels = true;
}

void PixelPlanner::find_other_readers() {
  for (int i = 0; i < count(); ++i) {
    if (is_pixels(i) || graph_.at(i).is_stored) continue;
    for (const GraphItem::Operand& operand : graph_.at(i).operands)
      if (!operand.is_number()) facts(operand.item).has_other_reader = true;
  }
}

PixelDraft& PixelPlanner::new_kernel(const PixelImage& domain) {
  kernels_.push_back(std::make_unique<PixelDraft>(PixelDraft{domain}));
  return *kernels_.back();
}

void PixelPlanner::add_shown(std::size_t index) {
  const Graph::Shown& shown = graph_.shown[index];
  const Graph::Place& place = graph_.wanted[shown.wanted];
  const PixelImage shown_image = *pixel_image_of(shown.shape);
  const GraphItem& item = graph_.at(place.item);
  PixelDraft& kernel = new_kernel(shown_image);
  kernel.target = shown.target;
  kernel.shown = index;
  const GraphItem::Operand operand{.shape = shown.shape, .item = place.item, .offset = place.offset};
  const PixelRef value = pixel(kernel, operand, shown_image, kernel.writer.here());
  kernel.outputs.push_back(
      {{PixelResult::target},
       {PixelPlace::host, item.dtype(), static_cast<int>(shown_image.channels), {}, shown.target->type()},
       value});
}

void PixelPlanner::place_item(int item) {
  carry_fourth(item);
  if (const HostSource* source = graph_.at(item).source) return place_host_source(item, *source);
  const Facts& own = facts(item);
  if (!own.is_pixels) return;
  const bool is_stored = own.is_wanted || own.has_other_reader;
  const std::vector<PixelDraft*> readers = readers_of(item);
  if (!is_stored && readers.empty()) return;
  if (!is_stored && !is_split(item) && is_worth_repeating(item)) {
    for (PixelDraft* kernel : readers) compute_in(*kernel, item);
    ++ops_fused_;
    return;
  }
  store(item, readers);
}

void PixelPlanner::place_host_source(int item, const HostSource& source) {
  Facts& own = facts(item);
  own.is_imported = own.is_wanted || own.has_other_reader;
  const PixelImage pixels = image(item);
  const DType dtype = graph_.at(item).dtype();
  const auto channels = static_cast<int>(pixels.channels);
  if (own.is_imported && !graph_.at(item).is_stored) {
    PixelDraft& kernel = new_kernel(pixels);
    const PixelRef value = kernel.writer.value(item, kernel.writer.here(), dtype);
    kernel.outputs.push_back({{item}, {PixelPlace::elements, dtype, channels, {}, {}}, value});
  }
  for (PixelDraft* kernel : readers_of(item)) {
    read_texels(*kernel, item, item, {PixelPlace::host, dtype, channels, source.type()}, pixels,
                source.is_filterable());
    kernel->items.push_back(item);
  }
}

std::vector<PixelDraft*> PixelPlanner::readers_of(int wanted) const {
  std::vector<PixelDraft*> readers;
  for (const std::unique_ptr<PixelDraft>& kernel : kernels_)
    if (pixels_read_by(*kernel, wanted) != 0) readers.push_back(kernel.get());
  return readers;
}

std::size_t PixelPlanner::pixels_read_by(const PixelDraft& kernel, int wanted) {
  std::size_t pixels = kernel.writer.wanted_of(wanted).size();
  for (const auto& [value, place] : kernel.writer.wanted_between(wanted)) pixels += place.next_slice ? 8 : 4;
  return pixels;
}

double PixelPlanner::reads_of(int wanted) const {
  double reads = 0;
  for (const std::unique_ptr<PixelDraft>& kernel : kernels_)
    reads += static_cast<double>(pixels_read_by(*kernel, wanted)) * kernel->evaluations *
             static_cast<double>(kernel->domain.pixels());
  return reads;
}

bool PixelPlanner::is_worth_repeating(int item) const {
  for (const std::unique_ptr<PixelDraft>& kernel : kernels_)
    if (const auto times = pixels_read_by(*kernel, item);
        times > 1 && static_cast<double>(times) * costs_.with_reads(item) > PixelCosts::most_repeated &&
        !moves_pixels(graph_.at(item)))
      return false;
  return costs_.is_worth_repeating(item, reads_of(item), [&](int other) { return reads_of(other); });
}

std::optional<Step> PixelPlanner::step_of(PixelDraft& kernel) {
  std::vector<PixelOutput> outputs;
  std::vector<PixelRef> values;
  Step step;
  for (const PixelDraftOutput& output : kernel.outputs) {
    outputs.push_back(output.output);
    values.push_back(output.value);
    step.pixel_results.push_back(output.result);
  }
  std::optional<PixelWriter::Finished> written =
      kernel.writer.finish(std::move(outputs), values, kernel.domain.width, kernel.domain.height);
  if (!written || static_cast<int>(written->kernel.inputs.size()) > limits_.pixels.max_inputs ||
      written->kernel.words > limits_.max_words)
    return std::nullopt;
  PixelWriter::Finished& finished = *written;
  finished.kernel.label = label_of(kernel);
  finished.kernel.make_key();
  step.pixel_kernel = std::move(finished.kernel);
  step.inputs = kernel.writer.input_items();
  step.words = std::move(finished.words);
  step.numbers = std::move(finished.numbers);
  step.shown = kernel.shown;
  return step;
}

void PixelPlanner::split(const PixelDraft& kernel) {
  std::vector<int> items;
  for (const int item : kernel.items)
    if (!graph_.at(item).source && !moves_pixels(graph_.at(item)) && !is_split(item) &&
        std::ranges::none_of(kernel.outputs, [&](const auto& output) { return item_of(kernel, output) == item; }))
      items.push_back(item);
  if (items.empty()) return;
  const auto middle = items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
  std::nth_element(items.begin(), middle, items.end());
  is_split_[static_cast<std::size_t>(*middle)] = true;
}

std::string PixelPlanner::label_of(const PixelDraft& kernel) const {
  std::vector<int> items = kernel.items;
  std::ranges::sort(items);
  std::string label;
  std::size_t names = 0;
  std::string last;
  for (const int item : items) {
    const std::string name = op_name(*graph_.at(item).operation);
    if (name == last) continue;
    last = name;
    if (++names > 8) {
      label += " > …";
      break;
    }
    label += (label.empty() ? "" : " > ") + name;
  }
  if (label.empty()) label = "copy";
  return kernel.target ? label + " > show" : label;
}

PixelPlan plan_pixels(const Graph& graph, const Limits& limits) {
  if (limits.pixels.max_side == 0)
    return {.steps = {}, .is_taken = std::vector<bool>(graph.items.size(), false), .own_storages = {}};
  std::vector<bool> is_split(graph.items.size());
  for (std::ptrdiff_t splits = -1; std::ranges::count(is_split, true) > splits;) {
    splits = std::ranges::count(is_split, true);
    if (std::optional<PixelPlan> plan = PixelPlanner(graph, limits, is_split, true).plan()) return std::move(*plan);
  }
  return PixelPlanner(graph, limits, is_split, false).plan().value();
}

}  // namespace tessera
