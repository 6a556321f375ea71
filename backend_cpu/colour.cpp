// The colour family on the host; core/kernel/colour_parameters.h has the parameters.
#include "core/kernel/colour_parameters.h"

#include <algorithm>

#include "backend_cpu/image.h"

namespace tessera::cpu {
namespace {

void matrix(const FamilyRun& run) {
  const auto parameters = parameters_of<ColourMatrixParameters>(run);
  const std::int64_t channels = parameters.channels, rows = parameters.rows, columns = parameters.columns;
  const auto weight = [&](std::int64_t at) {
    return run.operands.size() == 2 ? number(run, 1, at) : parameters.numbers[index_of(at)];
  };
  fill_result(run, [&](std::int64_t element) {
    const std::int64_t pixel = element / rows, row = element % rows * columns;
    float total = columns > channels ? weight(row + channels) : 0;
    for (std::int64_t j = 0; j < channels; ++j) total += number(run, 0, pixel * channels + j) * weight(row + j);
    return total;
  });
}

// Where a channel lies along its axis of the table: between which entries, and how far from the first.
struct TablePlace {
  TablePlace(float channel, const ColourLookupParameters& parameters) {
    const std::int64_t last = parameters.entries - 1;
    const float place = std::clamp(channel * parameters.channel_scale, 0.0f, 1.0f) * static_cast<float>(last);
    below = std::isnan(place) ? 0 : static_cast<std::int64_t>(place);
    above = std::min(below + 1, last);
    rest = place - static_cast<float>(below);
  }
  float between(float at_below, float at_above) const { return at_below + (at_above - at_below) * rest; }

  std::int64_t below, above;
  float rest;
};

void lookup(const FamilyRun& run) {
  const auto parameters = parameters_of<ColourLookupParameters>(run);
  const std::int64_t entries = parameters.entries;
  fill_result(run, [&](std::int64_t element) {
    const std::int64_t channel = element % parameters.channels, pixel = element - channel;
    if (channel == 3) return number(run, 0, element);
    const TablePlace red(number(run, 0, pixel), parameters), green(number(run, 0, pixel + 1), parameters),
        blue(number(run, 0, pixel + 2), parameters);
    const auto entry = [&](std::int64_t b, std::int64_t g, std::int64_t r) {
      return number(run, 1, ((b * entries + g) * entries + r) * 3 + channel);
    };
    const auto along_red = [&](std::int64_t b, std::int64_t g) {
      return red.between(entry(b, g, red.below), entry(b, g, red.above));
    };
    const auto along_green = [&](std::int64_t b) {
      return green.between(along_red(b, green.below), along_red(b, green.above));
    };
    return blue.between(along_green(blue.below), along_green(blue.above)) * parameters.entry_scale;
  });
}

void yuv_to_rgb(const FamilyRun& run) {
  const auto parameters = parameters_of<YuvToRgbParameters>(run);
  const std::int64_t width = parameters.luma.width, height = parameters.luma.height;
  fill_result(run, [&](std::int64_t element) {
    const std::int64_t pixel = element / 3, x = pixel % width, y = pixel / width % height,
                       batch = pixel / (width * height);
    const std::int64_t block = (batch * parameters.chroma.height + y / 2) * parameters.chroma.width + x / 2,
                       u = block * parameters.chroma_stride, v = u + parameters.v_start;
    const float* row = &parameters.numbers[index_of(4 * (element % 3))];
    return number(run, 0, pixel) * row[0] + number(run, 1, u) * row[1] + number(run, 2, v) * row[2] + row[3];
  });
}

void rgb_to_chroma(const FamilyRun& run) {
  const auto parameters = parameters_of<RgbToChromaParameters>(run);
  const std::int64_t width = parameters.image.width, height = parameters.image.height;
  const Extent& chroma = parameters.chroma;
  fill_result(run, [&](std::int64_t element) {
    const std::int64_t block = element / parameters.chroma_channels, x = block % chroma.width,
                       y = block / chroma.width % chroma.height, batch = block / (chroma.width * chroma.height);
    const float* row = &parameters.numbers[index_of(4 * (element % parameters.chroma_channels))];
    float total = row[3];
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t corner = 0; corner < 4; ++corner) {
        const std::int64_t at_y = std::min(2 * y + corner / 2, height - 1),
                           at_x = std::min(2 * x + corner % 2, width - 1);
        total += 0.25f * row[j] * number(run, 0, ((batch * height + at_y) * width + at_x) * parameters.channels + j);
      }
    return total;
  });
}

}  // namespace

std::span<const FamilyFunction> colour_functions() {
  static constexpr FamilyFunction functions[] = {
      {"colour_matrix_numbers", matrix}, {"colour_matrix_tensor", matrix},        {"colour_lookup", lookup},
      {"colour_yuv_to_rgb", yuv_to_rgb}, {"colour_rgb_to_chroma", rgb_to_chroma},
  };
  return functions;
}

}  // namespace tessera::cpu
