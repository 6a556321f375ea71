// The warp family on the host; core/ops/warp.cpp defines the words.
#include <algorithm>

#include "backend_cpu/image.h"

namespace tessera::cpu {
namespace {

// The first parameters of the warps.
ImageParameters image_parameters(const FamilyRun& run) { return from_words<ImageParameters>(run.words.first(6)); }

float pixel_at(const FamilyRun& run, const ImageParameters& parameters, std::int64_t batch, std::int64_t channel,
               float y, float x, float outside) {
  const bool inside = y >= 0 && y < static_cast<float>(run.word(4)) && x >= 0 && x < static_cast<float>(run.word(3));
  if (!inside) return outside;
  return number(run, 0,
                place_in_image(parameters, batch, static_cast<std::int64_t>(y), static_cast<std::int64_t>(x), channel));
}

float sample(const FamilyRun& run, const ImageParameters& parameters, std::int64_t batch, std::int64_t channel, float y,
             float x, float outside) {
  if (run.word(6) == 1)
    return pixel_at(run, parameters, batch, channel, std::floor(y + 0.5f), std::floor(x + 0.5f), outside);
  const float top = std::floor(y), left = std::floor(x), along = x - left;
  const auto along_row = [&](float row) {
    return pixel_at(run, parameters, batch, channel, row, left, outside) * (1 - along) +
           pixel_at(run, parameters, batch, channel, row, left + 1, outside) * along;
  };
  const float upper = along_row(top), lower = along_row(top + 1);
  return upper + (lower - upper) * (y - top);
}

void affine(const FamilyRun& run) {
  const ImageParameters parameters = image_parameters(run);
  fill_result(run, [&](std::int64_t element) {
    const Pixel pixel(parameters, element);
    const auto x = static_cast<float>(pixel.x), y = static_cast<float>(pixel.y);
    const float from_x = run.word_float(7) * x + run.word_float(8) * y + run.word_float(9);
    const float from_y = run.word_float(10) * x + run.word_float(11) * y + run.word_float(12);
    return sample(run, parameters, pixel.batch, pixel.channel, from_y, from_x,
                  run.word_float(index_of(13 + pixel.channel % 4)));
  });
}

float along_box(std::int64_t index, std::int64_t count, float from, float to, float last) {
  if (count == 1) return 0.5f * last * (from + to);
  return from * last + static_cast<float>(index) * ((to - from) * last / static_cast<float>(count - 1));
}

// A thousandth of a pixel, which rounding may put a box's border beyond the image's.
bool is_outside(float place, float last) { return place < -0.001f || place > last + 0.001f; }

void crop(const FamilyRun& run) {
  const ImageParameters parameters = image_parameters(run);
  const float last_y = static_cast<float>(run.word(4) - 1), last_x = static_cast<float>(run.word(3) - 1);
  fill_result(run, [&](std::int64_t element) {
    const Pixel pixel(parameters, element);
    const std::int64_t box = 4 * pixel.batch, batch = run.operands[2][index_of(pixel.batch)].whole;
    const float y = along_box(pixel.y, run.word(2), number(run, 1, box), number(run, 1, box + 2), last_y);
    const float x = along_box(pixel.x, run.word(1), number(run, 1, box + 1), number(run, 1, box + 3), last_x);
    const bool is_known = batch >= 0 && batch < run.word(8);
    if (!is_known || is_outside(y, last_y) || is_outside(x, last_x)) return run.word_float(7);
    return sample(run, parameters, batch, pixel.channel, std::clamp(y, 0.0f, last_y), std::clamp(x, 0.0f, last_x), 0);
  });
}

}  // namespace

std::span<const FamilyFunction> warp_functions() {
  static constexpr FamilyFunction functions[] = {{"warp_affine", affine}, {"warp_crop", crop}};
  return functions;
}

}  // namespace tessera::cpu
