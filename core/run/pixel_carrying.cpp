#include "core/run/pixel_planner.h"

// Three channels that are stored in texels leave the fourth component of each to another image: its fourth channel,
// such as the alpha of a host's texture, goes along from the kernel that has it to the one that needs nothing else of
// that image.
namespace tessera {

void PixelPlanner::carry_fourth(int wanted) {
  for (PixelDraft* kernel : readers_of(wanted)) {
    PixelWriter& writer = kernel->writer;
    const std::optional<PixelRef> value = writer.known_value(wanted, writer.here());
    std::vector<PixelRef> results;
    for (const PixelDraftOutput& output : kernel->outputs) results.push_back(output.value);
    if (!value || pixels_read_by(*kernel, wanted) != 1 || !writer.is_read_for_fourth(*value, results)) continue;
    if (const std::optional<PixelRef> carrier = carrier_of(*kernel, wanted, writer.dtype_of(*value)))
      writer.define(*value, *carrier);
  }
}

std::optional<PixelRef> PixelPlanner::carrier_of(const PixelDraft& kernel, int wanted, DType dtype) {
  for (FreeFourth& free : free_fourths_) {
    if (std::ranges::find(free.readers, &kernel) == free.readers.end() || !kernel.has_extent_of(image(free.item)))
      continue;
    const std::optional<PixelRef> texel = kernel.writer.known_value(free.item, kernel.writer.here());
    if (texel && kernel.writer.dtype_of(*texel) == dtype && carries(free, wanted, dtype)) return texel;
  }
  return std::nullopt;
}

bool PixelPlanner::carries(FreeFourth& free, int wanted, DType dtype) {
  if (free.carried) return free.carried == wanted;
  PixelWriter& writer = free.kernel->writer;
  std::optional<PixelRef> from = writer.known_value(wanted, writer.here());
  if (!from) from = carrier_of(*free.kernel, wanted, dtype);
  if (!from) return false;
  free.carried = wanted;
  free.kernel->outputs[free.output].value = writer.vector(
      dtype, "vec4f(" + PixelWriter::text(free.three_channels) + ".xyz, " + PixelWriter::text(*from) + ".w)");
  return true;
}

}  // namespace tessera
