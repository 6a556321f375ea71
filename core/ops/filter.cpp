#include <algorithm>
#include <cmath>

#include "core/kernel/image_parameters.h"
#include "core/ops/image.h"
#include <tessera/image.h>

namespace tessera {
namespace {

using FilterEntry = KernelEntry<FilterParameters, FilterOptions>;
constexpr FilterEntry filter_numbers{{.name = "filter_numbers", .file = "filter"}};
constexpr FilterEntry filter_tensor{{.name = "filter_tensor", .file = "filter"}};

constexpr std::size_t most_weights = 59;

struct Axis {
  std::int64_t size, stride;
};

FilterBorder border_of(Border border, std::int64_t taps, std::int64_t size) {
  switch (border) {
    case Border::zero: return FilterBorder::zero;
    case Border::edge: return FilterBorder::edge;
    case Border::reflect: break;
  }
  return taps / 2 < size ? FilterBorder::near_reflect : FilterBorder::reflect;
}

FilterOptions options_for(Axis axis, std::int64_t taps, Border border) {
  return {.border = static_cast<std::int64_t>(border_of(border, taps, axis.size))};
}

void check_taps(std::string_view op, std::string_view which, std::int64_t taps) {
  if (taps % 2 == 0)
    fail(ErrorCode::invalid_argument, op,
         "the " + std::string(which) + " has " + std::to_string(taps) +
             " taps; it takes an odd number, so that one is the centre.");
}

Tensor filtered(const Tensor& image, const Tensor& weights, Axis axis, Border border, DType dtype) {
  const std::int64_t taps = weights.shape()[0];
  return family_tensor(
      image.shape(), dtype,
      filter_tensor.with({.size = axis.size, .stride = axis.stride, .reads_texels = axis.stride % 4 == 0, .taps = taps},
                         options_for(axis, taps, border)),
      {image, weights});
}

Tensor filtered(const Tensor& image, std::vector<float> weights, Axis axis, Border border, DType dtype) {
  const auto taps = static_cast<std::int64_t>(weights.size());
  if (weights.size() > most_weights) {
    const auto bytes = std::as_bytes(std::span(weights));
    const Tensor uploaded = TensorAccess::tensor(make_node(TensorAccess::info(image).context, Shape{taps}, DType::f32,
                                                           HostValues{{bytes.begin(), bytes.end()}}));
    return filtered(image, uploaded, axis, border, dtype);
  }
  FilterOptions options = options_for(axis, taps, border);
  options.taps = taps;
  std::int64_t zeros = 0;
  for (std::size_t tap = 0; tap < std::min<std::size_t>(weights.size(), 31); ++tap)
    if (weights[tap] == 0) zeros |= std::int64_t{1} << tap;
  options.zeros = zeros;
  return family_tensor(image.shape(), dtype,
                       filter_numbers.with({.size = axis.size,
                                            .stride = axis.stride,
                                            .reads_texels = axis.stride % 4 == 0,
                                            .taps = taps,
                                            .weights = std::move(weights)},
                                           options),
                       {image});
}

// Filters along the width, then along the height; the result has a floating type.
template <class Weights>
Tensor filtered_both_ways(const Tensor& image, const ImageSize& size, const Weights& row, const Weights& column,
                          Border border) {
  const Tensor along_width = filtered(image, row, {size.width, size.channels}, border, DType::f32);
  return filtered(along_width, column, {size.height, size.width * size.channels}, border,
                  computing_type(image.dtype()));
}

ImageSize checked_filter_image(std::string_view op, const Tensor& image) {
  check_image_dtype(op, image);
  return checked_image(op, image);
}

Tensor checked_weights(std::string_view which, const Tensor& weights) {
  check_dtype("separable_filter", weights, is_float(weights.dtype()), "weights of floats");
  if (weights.shape().rank() != 1)
    fail(ErrorCode::shape_mismatch, "separable_filter",
         "the " + std::string(which) + " " + weights.shape().to_string() + " has rank " +
             std::to_string(weights.shape().rank()) + "; it is [taps].");
  check_taps("separable_filter", which, weights.shape()[0]);
  return weights.cast(DType::f32);
}

std::vector<float> gaussian(float sigma) {
  const auto radius = static_cast<int>(std::ceil(3 * sigma));
  std::vector<double> weights;
  double total = 0;
  for (int i = -radius; i <= radius; ++i)
    total += weights.emplace_back(std::exp(-0.5 * i * i / (double{sigma} * double{sigma})));
  std::vector<float> normalised;
  for (const double weight : weights) normalised.push_back(static_cast<float>(weight / total));
  return normalised;
}

}  // namespace

Tensor separable_filter(const Tensor& image, const Tensor& row, const Tensor& column, Border border) {
  const ImageSize size = checked_filter_image("separable_filter", image);
  return as_image(
      filtered_both_ways(image, size, checked_weights("row", row), checked_weights("column", column), border),
      image.dtype());
}

Tensor separable_filter(const Tensor& image, const std::vector<float>& row, const std::vector<float>& column,
                        Border border) {
  const ImageSize size = checked_filter_image("separable_filter", image);
  check_taps("separable_filter", "row", static_cast<std::int64_t>(row.size()));
  check_taps("separable_filter", "column", static_cast<std::int64_t>(column.size()));
  return as_image(filtered_both_ways(image, size, row, column, border), image.dtype());
}

Tensor gaussian_blur(const Tensor& image, float sigma, Border border) {
  const ImageSize size = checked_filter_image("gaussian_blur", image);
  constexpr float largest = 1000;
  if (!(sigma > 0) || sigma > largest)
    fail(ErrorCode::invalid_argument, "gaussian_blur",
         "sigma is " + std::to_string(sigma) + "; it takes numbers above 0, up to " + std::to_string(largest) + ".");
  const std::vector<float> weights = gaussian(sigma);
  return as_image(filtered_both_ways(image, size, weights, weights, border), image.dtype());
}

Gradient sobel(const Tensor& image, Border border) {
  const ImageSize size = checked_filter_image("sobel", image);
  const std::vector<float> difference{-1, 0, 1}, smooth{1, 2, 1};
  return {filtered_both_ways(image, size, difference, smooth, border),
          filtered_both_ways(image, size, smooth, difference, border)};
}

}  // namespace tessera
