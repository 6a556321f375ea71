// The warp family on the host; core/image_parameters.h has the parameters.
#include <algorithm>

#include "backend_cpu/image.h"

namespace tessera::cpu {
namespace {

bool is_within(float place, std::int64_t size) { return place >= 0 && place < static_cast<float>(size); }

float pixel_at(const FamilyRun& run, const WarpParameters& warp, std::int64_t batch, std::int64_t channel, float y,
               float x, float outside) {
  if (!is_within(y, warp.image.height) || !is_within(x, warp.image.width)) return outside;
  return number(run, 0,
                place_in_image(warp, batch, static_cast<std::int64_t>(y), static_cast<std::int64_t>(x), channel));
}

float sample(const FamilyRun& run, const WarpParameters& warp, std::int64_t batch, std::int64_t channel, float y,
             float x, float outside) {
  if (warp.taps == 1) return pixel_at(run, warp, batch, channel, std::floor(y + 0.5f), std::floor(x + 0.5f), outside);
  const float top = std::floor(y), left = std::floor(x), along = x - left;
  const auto along_row = [&](float row) {
    return pixel_at(run, warp, batch, channel, row, left, outside) * (1 - along) +
           pixel_at(run, warp, batch, channel, row, left + 1, outside) * along;
  };
  const float upper = along_row(top), lower = along_row(top + 1);
  return upper + (lower - upper) * (y - top);
}

void affine(const FamilyRun& run) {
  const auto parameters = parameters_of<AffineParameters>(run);
  fill_result(run, [&](std::int64_t element) {
    const Pixel pixel(parameters.warp, element);
    const auto place = [&](const std::array<float, 3>& row) {
      return row[0] * static_cast<float>(pixel.x) + row[1] * static_cast<float>(pixel.y) + row[2];
    };
    return sample(run, parameters.warp, pixel.batch, pixel.channel, place(parameters.y), place(parameters.x),
                  parameters.fill[index_of(pixel.channel % 4)]);
  });
}

float along_box(std::int64_t index, std::int64_t count, float from, float to, float last) {
  if (count == 1) return 0.5f * last * (from + to);
  return from * last + static_cast<float>(index) * ((to - from) * last / static_cast<float>(count - 1));
}

// A thousandth of a pixel, which rounding may put a box's border beyond the image's.
bool is_outside(float place, float last) { return place < -0.001f || place > last + 0.001f; }

void crop(const FamilyRun& run) {
  const auto parameters = parameters_of<CropParameters>(run);
  const WarpParameters& warp = parameters.warp;
  const auto last_y = static_cast<float>(warp.image.height - 1), last_x = static_cast<float>(warp.image.width - 1);
  fill_result(run, [&](std::int64_t element) {
    const Pixel pixel(warp, element);
    const std::int64_t box = 4 * pixel.batch, batch = run.operands[2][index_of(pixel.batch)].whole;
    const float y = along_box(pixel.y, warp.result.height, number(run, 1, box), number(run, 1, box + 2), last_y);
    const float x = along_box(pixel.x, warp.result.width, number(run, 1, box + 1), number(run, 1, box + 3), last_x);
    const bool is_known = batch >= 0 && batch < parameters.images;
    if (!is_known || is_outside(y, last_y) || is_outside(x, last_x)) return parameters.extrapolation;
    return sample(run, warp, batch, pixel.channel, std::clamp(y, 0.0f, last_y), std::clamp(x, 0.0f, last_x), 0);
  });
}

}  // namespace

std::span<const FamilyFunction> warp_functions() {
  static constexpr FamilyFunction functions[] = {{"warp_affine", affine}, {"warp_crop", crop}};
  return functions;
}

}  // namespace tessera::cpu
