#include <algorithm>
#include <cmath>

#include "core/kernel/image_parameters.h"
#include "core/ops/image.h"
#include <tessera/image.h>
#include <tessera/reduce.h>

namespace tessera {
namespace {

// Gives [batch * channels, parts, bins]: an invocation counts four bins over one part of the pixels. No device needs
// atomic operations for this, and the counts are exact.
constexpr KernelEntry<HistogramParameters> histogram_count{{.name = "histogram_count", .file = "histogram"}};

constexpr std::int64_t pixels_of_part = 1024, most_bins = 65536, most_counts = 1 << 22;

}  // namespace

Tensor histogram(const Tensor& image, std::int64_t bins, float low, float high) {
  const ImageSize size = checked_image("histogram", image);
  check_image_dtype("histogram", image);
  if (bins < 1 || bins > most_bins)
    fail(ErrorCode::invalid_argument, "histogram",
         std::to_string(bins) + " bins were asked for; it takes 1 to " + std::to_string(most_bins) + ".");
  if (!(low < high) || !std::isfinite(high - low))
    fail(ErrorCode::invalid_argument, "histogram",
         "low (" + std::to_string(low) + ") is not below high (" + std::to_string(high) + ").");
  const Shape result = size.has_batch ? result_shape("histogram", {size.batch, size.channels, bins})
                                      : result_shape("histogram", {size.channels, bins});
  if (image.shape().size() == 0) return number_like(image, result, 0).cast(DType::i32);
  const std::int64_t kept = size.batch * size.channels, pixels = size.height * size.width, padded = (bins + 3) / 4 * 4;
  const std::int64_t most_parts = (pixels + pixels_of_part - 1) / pixels_of_part;
  const std::int64_t parts = std::clamp<std::int64_t>(most_counts / (kept * padded), 1, most_parts),
                     part_pixels = (pixels + parts - 1) / parts;
  Family family = histogram_count.with({.channels = size.channels,
                                        .pixels = pixels,
                                        .parts = parts,
                                        .part_pixels = part_pixels,
                                        .padded_bins = padded,
                                        .bins = bins,
                                        .low = low,
                                        .high = high,
                                        .scale = static_cast<float>(bins / (double{high} - double{low}))});
  const Shape of_parts = result_shape("histogram", {kept, parts, padded});
  const Tensor counts = sum(family_tensor(of_parts, DType::i32, std::move(family), {image}), {.axes = {1}});
  if (padded == bins) return counts.reshape(result);
  return strided_tensor(counts, result, 0, {{1, bins, 1}, {bins, kept, padded}});
}

Tensor histogram(const Tensor& image, std::int64_t bins) {
  return histogram(image, bins, 0, image.dtype() == DType::u8 ? 256.0f : 1.0f);
}

}  // namespace tessera
