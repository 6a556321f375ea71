#include <limits>
#include <numeric>

#include "core/kernel/image_parameters.h"
#include "core/ops/image.h"
#include <tessera/image.h>

namespace tessera {
namespace {

using ResizeEntry = KernelEntry<ResizeParameters, ResizeOptions>;
constexpr ResizeEntry nearest{{.name = "resize_nearest", .file = "resize"}};
constexpr ResizeEntry bilinear{{.name = "resize_bilinear", .file = "resize"}};
constexpr ResizeEntry cubic{{.name = "resize_cubic", .file = "resize"}};

// Pixel i of the result lies at (i * step + start) / divisor: whole numbers, so that every device rounds alike.
struct Fraction {
  std::int64_t step, start, divisor;

  void reduce() {
    const std::int64_t shared = std::gcd(std::gcd(step, start), divisor);
    step /= shared, start /= shared, divisor /= shared;
  }
};

Fraction place_of_pixels(Coordinates coordinates, std::int64_t in, std::int64_t out) {
  switch (coordinates) {
    case Coordinates::half_pixel: return {2 * in, in - out, 2 * out};
    case Coordinates::align_corners: return out == 1 ? Fraction{0, 0, 1} : Fraction{in - 1, 0, out - 1};
    case Coordinates::asymmetric: break;
  }
  return {in, 0, out};
}

// Moves places such that the whole pixel below each is the nearest one.
void round_places(Fraction& fraction, Nearest rounding) {
  if (rounding == Nearest::down) return;
  if (rounding == Nearest::up) {
    fraction.start += fraction.divisor - 1;
    return;
  }
  if (fraction.divisor % 2 != 0) fraction = {2 * fraction.step, 2 * fraction.start, 2 * fraction.divisor};
  fraction.start += fraction.divisor / 2 - (rounding == Nearest::prefer_lower ? 1 : 0);
}

Places places_along(const Resize& options, std::int64_t in, std::int64_t out) {
  Fraction fraction = place_of_pixels(options.coordinates, in, out);
  fraction.reduce();
  if (options.mode == Interpolation::nearest) round_places(fraction, options.nearest);
  fraction.start += 2 * fraction.divisor;  // from two pixels before the image: no tap is below zero
  constexpr std::int64_t highest = std::numeric_limits<std::uint32_t>::max();  // which the last place must not exceed
  if (fraction.start > highest || (out > 1 && fraction.step > (highest - fraction.start) / (out - 1)))
    fail(ErrorCode::unsupported, "resize",
         "the places of " + std::to_string(out) + " pixels among " + std::to_string(in) +
             " are fractions too fine for 32-bit numbers.");
  return {.step = fraction.step, .start = fraction.start, .divisor = fraction.divisor};
}

const ResizeEntry& entry_for(Interpolation mode) {
  if (mode == Interpolation::nearest) return nearest;
  return mode == Interpolation::bilinear ? bilinear : cubic;
}

std::int64_t taps_of(Interpolation mode) {  // along an axis
  return mode == Interpolation::nearest ? 1 : mode == Interpolation::bilinear ? 2 : 4;
}

Tensor flipped(std::string_view op, const Tensor& image, bool along_width) {
  const ImageSize size = checked_image(op, image);
  const std::int64_t block = along_width ? size.channels : size.width * size.channels;
  const std::int64_t count = along_width ? size.width : size.height;
  if (image.shape().size() == 0 || count == 1) return image;
  std::vector<Term> terms{
      {1, block, 1}, {block, count, -block}, {block * count, image.shape().size() / (block * count), block * count}};
  std::erase_if(terms, [](const Term& term) { return term.size == 1; });
  return strided_tensor(image, image.shape(), (count - 1) * block, std::move(terms));
}

}  // namespace

Tensor resize(const Tensor& image, std::int64_t height, std::int64_t width, const Resize& options) {
  const ImageSize size = checked_image("resize", image);
  if (options.mode != Interpolation::nearest) check_image_dtype("resize", image);
  check_result_size("resize", height, width);
  check_has_pixels("resize", image);
  if (height == size.height && width == size.width) return image;
  const std::int64_t taps = taps_of(options.mode);
  Family family = entry_for(options.mode)
                      .with({.channels = size.channels,
                             .result = {width, height},
                             .image = {size.width, size.height},
                             .y = places_along(options, size.height, height),
                             .x = places_along(options, size.width, width),
                             .cubic_coefficient = options.cubic_coefficient,
                             .taps = taps},
                            {.reads_texels = size.has_whole_texels()});
  const Shape result = size.with("resize", height, width, size.channels);
  family.reads_once = taps * taps * result.size() <= image.shape().size();
  if (options.mode == Interpolation::nearest) return family_tensor(result, image.dtype(), std::move(family), {image});
  return as_image(family_tensor(result, computing_type(image.dtype()), std::move(family), {image}), image.dtype());
}

Tensor resize_bilinear(const Tensor& image, std::int64_t height, std::int64_t width) {
  return resize(image, height, width);
}

Tensor flip_left_right(const Tensor& image) { return flipped("flip_left_right", image, true); }
Tensor flip_up_down(const Tensor& image) { return flipped("flip_up_down", image, false); }

}  // namespace tessera
