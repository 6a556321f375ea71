// The colour family on the host; core/ops/colour.cpp and core/ops/yuv.cpp define the words.
#include <algorithm>

#include "backend_cpu/image.h"

namespace tessera::cpu {
namespace {

void matrix(const FamilyRun& run) {
  const std::int64_t channels = run.word(0), rows = run.word(1), columns = run.word(2);
  const auto weight = [&](std::int64_t at) {
    return run.operands.size() == 2 ? number(run, 1, at) : run.word_float(index_of(4 + at));
  };
  fill_result(run, [&](std::int64_t element) {
    const std::int64_t pixel = element / rows, row = element % rows * columns;
    float total = columns > channels ? weight(row + channels) : 0;
    for (std::int64_t j = 0; j < channels; ++j) total += number(run, 0, pixel * channels + j) * weight(row + j);
    return total;
  });
}

// Where a channel lies along its axis of the table: between which entries, and how far from the first.
struct Place {
  Place(float channel, const FamilyRun& run) {
    const std::int64_t last = run.word(1) - 1;
    const float place = std::clamp(channel * run.word_float(2), 0.0f, 1.0f) * static_cast<float>(last);
    below = std::isnan(place) ? 0 : static_cast<std::int64_t>(place);
    above = std::min(below + 1, last);
    rest = place - static_cast<float>(below);
  }
  float between(float at_below, float at_above) const { return at_below + (at_above - at_below) * rest; }

  std::int64_t below, above;
  float rest;
};

void lookup(const FamilyRun& run) {
  const std::int64_t channels = run.word(0), size = run.word(1);
  fill_result(run, [&](std::int64_t element) {
    const std::int64_t channel = element % channels, pixel = element - channel;
    if (channel == 3) return number(run, 0, element);
    const Place red(number(run, 0, pixel), run), green(number(run, 0, pixel + 1), run),
        blue(number(run, 0, pixel + 2), run);
    const auto entry = [&](std::int64_t b, std::int64_t g, std::int64_t r) {
      return number(run, 1, ((b * size + g) * size + r) * 3 + channel);
    };
    const auto along_red = [&](std::int64_t b, std::int64_t g) {
      return red.between(entry(b, g, red.below), entry(b, g, red.above));
    };
    const auto along_green = [&](std::int64_t b) {
      return green.between(along_red(b, green.below), along_red(b, green.above));
    };
    return blue.between(along_green(blue.below), along_green(blue.above)) * run.word_float(3);
  });
}

void yuv_to_rgb(const FamilyRun& run) {
  const std::int64_t width = run.word(0), height = run.word(1);
  fill_result(run, [&](std::int64_t element) {
    const std::int64_t pixel = element / 3, x = pixel % width, y = pixel / width % height,
                       batch = pixel / (width * height);
    const std::int64_t chroma = ((batch * run.word(3) + y / 2) * run.word(2) + x / 2) * run.word(4);
    const auto row = index_of(6 + 4 * (element % 3));
    return number(run, 0, pixel) * run.word_float(row) + number(run, 1, chroma) * run.word_float(row + 1) +
           number(run, 2, chroma + run.word(5)) * run.word_float(row + 2) + run.word_float(row + 3);
  });
}

void rgb_to_chroma(const FamilyRun& run) {
  const std::int64_t channels = run.word(0), width = run.word(1), height = run.word(2);
  fill_result(run, [&](std::int64_t element) {
    const std::int64_t block = element / run.word(5), x = block % run.word(3), y = block / run.word(3) % run.word(4);
    const std::int64_t batch = block / (run.word(3) * run.word(4));
    const auto row = index_of(6 + 4 * (element % run.word(5)));
    float total = run.word_float(row + 3);
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t corner = 0; corner < 4; ++corner) {
        const std::int64_t at_y = std::min(2 * y + corner / 2, height - 1),
                           at_x = std::min(2 * x + corner % 2, width - 1);
        total += 0.25f * run.word_float(row + index_of(j)) *
                 number(run, 0, ((batch * height + at_y) * width + at_x) * channels + j);
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
