#include "core/run/pixel_planner.h"

namespace tessera {

void PixelPlanner::store(int item, const std::vector<PixelDraft*>& readers) {
  if (stays_in_texels(item)) return store_in_texels(item, readers);
  const PixelImage pixels = image(item);
  const Facts& own = facts(item);
  const DType dtype = graph_.at(item).dtype();
  PixelLayout layout = pixel_layout_of(pixels);
  // The same storage is both where a texel has just the channels of a pixel.
  const bool are_alike = layout.channels == pixels.channels &&
                         (limits_.pixels.stores_elements ? dtype == DType::f32 : pixels.channels == 4);
  const bool needs_elements = own.is_wanted || own.has_other_reader;
  const bool in_texels = is_float(dtype) && (dtype == DType::f32 || can_be_half(pixels)) &&
                         (!needs_elements || (are_alike && graph_.at(item).layout == 0));
  layout.has_elements = in_texels && needs_elements;
  layout.is_half = in_texels && !needs_elements && (dtype == DType::f16 || (graph_.is_half && can_be_half(pixels)));
  const PixelInput texels{PixelPlace::texels, layout.is_half ? DType::f16 : dtype, layout.channels};
  const PixelOutput output{.place = in_texels ? PixelPlace::texels : PixelPlace::elements,
                           .dtype = in_texels ? texels.dtype : dtype,
                           .channels = in_texels ? layout.channels : static_cast<int>(pixels.channels),
                           .value = {},
                           .is_rounded_freely = texels.dtype != dtype};
  const bool stores_alone = !in_texels && !stores_pixels(dtype, output.channels);
  if (!in_texels && is_worth_texels_too(item)) return store_in_texels_too(item, readers);

  PixelDraft* kernel = stores_alone ? nullptr : companion(item, readers);
  const bool joins = kernel != nullptr;
  if (!kernel) kernel = &new_kernel(pixels);
  PixelRef value = kernel->writer.value(item, kernel->writer.here(), dtype);
  compute_in(*kernel, item);
  const bool has_free_fourth = in_texels && pixels.channels == 3;
  if (has_free_fourth) free_fourths_.push_back({item, kernel, kernel->outputs.size(), value, {}});
  if (has_free_fourth) value = three_channels(*kernel, value);
  // A tensor may move to another device, where its elements must be in order too.
  const bool is_plain = !in_texels || (needs_elements && limits_.pixels.stores_elements);
  kernel->outputs.push_back({{item, is_plain ? PixelLayout{} : layout}, output, value});
  if (stores_alone) kernel->evaluations = evaluations(item);
  if (joins) ++ops_fused_;

  for (PixelDraft* reader : readers) {
    if (reader == kernel) continue;
    if (is_cheap(item)) compute_in(*reader, item);
    else if (in_texels) read_texels(*reader, item, item, texels, pixels, layout.is_half);
    else read_elements(*reader, item, item, 0, pixels);
    if (has_free_fourth && !is_cheap(item)) free_fourths_.back().readers.push_back(reader);
  }
}

void PixelPlanner::store_in_texels(int item, const std::vector<PixelDraft*>& readers) {
  const PixelImage pixels = image(item);
  const DType dtype = graph_.at(item).dtype();
  PixelDraft* kernel = companion(item, readers);
  if (kernel) ++ops_fused_;
  else kernel = &new_kernel(pixels);
  PixelRef value = kernel->writer.value(item, kernel->writer.here(), dtype);
  compute_in(*kernel, item);
  const bool are_elements = limits_.pixels.stores_elements;
  kernel->outputs.push_back(
      {{item, are_elements ? PixelLayout{} : pixel_layout_of(pixels), true},
       {.place = are_elements ? PixelPlace::elements : PixelPlace::texels, .dtype = dtype, .channels = 4, .value = {}},
       three_channels(*kernel, value)});
  for (PixelDraft* reader : readers) {
    if (reader == kernel) continue;
    if (is_cheap(item)) compute_in(*reader, item);
    else if (are_elements) read_elements(*reader, item, item, 0, {pixels.height, pixels.width, 4});
    else read_texels(*reader, item, item, {PixelPlace::texels, dtype, 4}, pixels, false);
  }
}

bool PixelPlanner::is_worth_texels_too(int item) const {
  const PixelImage pixels = image(item);
  const DType dtype = graph_.at(item).dtype();
  if (!is_float(dtype) || !(dtype == DType::f16 ? can_be_half(pixels) : fits(pixels))) return false;
  const double times = evaluations(item), of_pixels = static_cast<double>(pixels.pixels());
  const double saved = reads_of(item) * (costs_.reading_elements(pixels) - PixelCosts::reading) +
                       of_pixels * (times - 1) * costs_.with_reads(item);
  return saved > of_pixels * (PixelCosts::storing + times * PixelCosts::reading);
}

void PixelPlanner::store_in_texels_too(int item, const std::vector<PixelDraft*>& readers) {
  const PixelImage pixels = image(item);
  const DType dtype = graph_.at(item).dtype();
  PixelLayout layout = pixel_layout_of(pixels);
  layout.is_half = dtype == DType::f16;
  const int storage = own_storage(dtype, layout);
  PixelDraft* kernel = companion(item, readers);
  if (!kernel) kernel = &new_kernel(pixels);
  PixelRef value = kernel->writer.value(item, kernel->writer.here(), dtype);
  compute_in(*kernel, item);
  if (pixels.channels == 3) value = three_channels(*kernel, value);
  kernel->outputs.push_back({{storage, layout},
                             {.place = PixelPlace::texels, .dtype = dtype, .channels = layout.channels, .value = {}},
                             value});
  PixelDraft& packing = new_kernel(pixels);
  packing.outputs.push_back(
      {{item},
       {.place = PixelPlace::elements, .dtype = dtype, .channels = static_cast<int>(pixels.channels), .value = {}},
       packing.writer.value(item, packing.writer.here(), dtype)});
  for (PixelDraft* reader : readers_of(item))
    read_texels(*reader, item, storage, {PixelPlace::texels, dtype, layout.channels}, pixels, layout.is_half);
}

int PixelPlanner::own_storage(DType dtype, const PixelLayout& layout) {
  own_storages_.push_back({dtype, layout.width * layout.height * layout.channels, 0, layout});
  return count() + static_cast<int>(own_storages_.size()) - 1;
}

PixelRef PixelPlanner::three_channels(PixelDraft& kernel, PixelRef value) {
  return kernel.writer.vector(kernel.writer.dtype_of(value), "vec4f(" + PixelWriter::text(value) + ".xyz, 0.0)");
}

PixelDraft* PixelPlanner::companion(int item, const std::vector<PixelDraft*>& readers) {
  if (is_split(item)) return nullptr;
  const PixelImage pixels = image(item);
  for (const std::unique_ptr<PixelDraft>& kernel : kernels_) {
    if (!kernel->has_extent_of(pixels) || !takes_output(*kernel)) continue;
    const bool reads = std::ranges::find(readers, kernel.get()) != readers.end();
    if (reads ? readers.size() == 1 && !facts(item).has_other_reader && reads_in_place(*kernel, item) &&
                    is_worth_repeating(item)
              : readers.empty() && !facts(item).has_other_reader && shares_reads(*kernel, item) &&
                    !depends_on(*kernel, item))
      return kernel.get();
  }
  return nullptr;
}

bool PixelPlanner::stores_pixels(DType dtype, int channels) const {
  return limits_.pixels.stores_elements && is_float(dtype) &&
         size_of(dtype) * static_cast<std::size_t>(channels) % 4 == 0;
}

bool PixelPlanner::takes_output(const PixelDraft& kernel) const {
  const bool is_alone = std::ranges::any_of(kernel.outputs, [&](const PixelDraftOutput& each) {
    return each.output.place == PixelPlace::elements && !stores_pixels(each.output.dtype, each.output.channels);
  });
  return !is_alone && static_cast<int>(kernel.outputs.size()) < limits_.pixels.max_outputs &&
         (!kernel.target || kernel.target->takes_more_outputs());
}

bool PixelPlanner::reads_in_place(const PixelDraft& kernel, int item) {
  return std::ranges::any_of(kernel.writer.wanted_of(item),
                             [&](const auto& wanted) { return wanted.second == kernel.writer.here(); });
}

bool PixelPlanner::shares_reads(const PixelDraft& kernel, int item) const {
  std::vector<bool> of_kernel(graph_.items.size(), false), of_item = of_kernel;
  for (const PixelDraftOutput& output : kernel.outputs)
    if (const int made = item_of(kernel, output); made < count()) of_kernel[static_cast<std::size_t>(made)] = true;
  of_item[static_cast<std::size_t>(item)] = true;
  for (int i = count() - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    if (of_kernel[at] && of_item[at]) return true;
    for (const GraphItem::Operand& operand : graph_.at(i).operands) {
      if (operand.is_number()) continue;
      const auto read = static_cast<std::size_t>(operand.item);
      of_kernel[read] = of_kernel[read] || of_kernel[at];
      of_item[read] = of_item[read] || of_item[at];
    }
  }
  return false;
}

int PixelPlanner::item_of(const PixelDraft& kernel, const PixelDraftOutput& output) const {
  return output.result.item == PixelResult::target ? graph_.wanted[graph_.shown[kernel.shown].wanted].item
                                                   : output.result.item;
}

bool PixelPlanner::depends_on(const PixelDraft& kernel, int item) const {
  std::vector<bool> needs(graph_.items.size(), false);
  needs[static_cast<std::size_t>(item)] = true;
  for (int i = item + 1; i < count(); ++i)
    for (const GraphItem::Operand& operand : graph_.at(i).operands)
      if (!operand.is_number() && needs[static_cast<std::size_t>(operand.item)])
        needs[static_cast<std::size_t>(i)] = true;
  return std::ranges::any_of(kernel.outputs, [&](const PixelDraftOutput& output) {
    const int made = item_of(kernel, output);
    return made >= count() || needs[static_cast<std::size_t>(made)];
  });
}

PixelPlanner::Reads PixelPlanner::reads_by(const std::vector<PixelDraft*>& kernels, int wanted) {
  Reads reads;
  for (const PixelDraft* kernel : kernels) {
    reads.in_plane |= !kernel->writer.wanted_of(wanted).empty();
    for (const auto& [value, place] : kernel->writer.wanted_between(wanted))
      (place.next_slice ? reads.across_slices : reads.in_plane) = true;
  }
  return reads;
}

void PixelPlanner::place_source(int index) {
  const PixelElementSource source = sources_[static_cast<std::size_t>(index)];
  const int wanted = count() + index;
  carry_fourth(wanted);
  const std::vector<PixelDraft*> readers = readers_of(wanted);
  if (readers.empty()) return;
  const DType dtype = graph_.at(source.item).dtype();
  const double by_element = costs_.reading_elements(source.image);
  const double saved = reads_of(wanted) * (by_element - PixelCosts::reading);
  const double spent = static_cast<double>(source.image.pixels()) * (by_element + PixelCosts::storing);
  const bool must_copy = graph_.at(source.item).is_overwritten && !graph_.at(source.item).source;
  const bool pays = saved > spent && source.image.pixels() > 1;  // one pixel is the same for all
  const bool fits_texels = dtype == DType::f16 ? can_be_half(source.image) : fits(source.image);
  if (!(pays || must_copy) || !is_float(dtype) || !fits_texels) {
    for (PixelDraft* kernel : readers) read_elements(*kernel, wanted, source.item, source.offset, source.image);
    return;
  }
  PixelLayout layout = pixel_layout_of(source.image);
  layout.is_half = dtype == DType::f16 || (graph_.is_half && can_be_half(source.image));
  const DType kept = layout.is_half ? DType::f16 : dtype;
  const Reads reads = reads_by(readers, wanted);
  const bool is_volume = layout.is_half && reads.across_slices && !reads.in_plane && fits_slices(source.image);
  if (is_volume) layout.slices = static_cast<int>(source.image.width);
  const int storage = own_storage(kept, layout);
  const PixelInput input{
      .place = PixelPlace::texels, .dtype = kept, .channels = layout.channels, .is_volume = is_volume};
  for (PixelDraft* kernel : readers)
    read_texels(*kernel, wanted, storage, input, source.image, layout.is_half && (is_volume || !reads.across_slices));
  PixelDraft& kernel = new_kernel(source.image);
  const PixelRef value = kernel.writer.value(wanted, kernel.writer.here(), dtype);
  read_elements(kernel, wanted, source.item, source.offset, source.image);
  kernel.outputs.push_back({{storage, layout},
                            {.place = PixelPlace::texels,
                             .dtype = kept,
                             .channels = layout.channels,
                             .value = {},
                             .is_rounded_freely = kept != dtype,
                             .is_volume = is_volume},
                            value});
}

}  // namespace tessera
