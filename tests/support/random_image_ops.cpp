// Operations on images, for random graphs.
#include <array>
#include <cmath>

#include "support/random_graph.h"

namespace tessera::test {
namespace {

Value some_image(RandomGraph& graph, Types types, int channels, bool exactly = false) {
  std::vector<std::int64_t> dims{graph.pick(1, 7), graph.pick(1, 7), channels};
  if (graph.chance(60)) dims.insert(dims.begin(), graph.pick(1, 2));
  return exactly ? graph.filled_exactly(Shape(dims), types) : graph.filled(Shape(dims), types);
}
Value some_image(RandomGraph& graph, Types types) { return some_image(graph, types, graph.pick(1, 5)); }

// u8 images round what is computed in f32, where halves may fall on either side.
void give_image(RandomGraph& graph, const Tensor& result, const Range& range, double tolerance = 1e-5) {
  if (is_float(result.dtype())) graph.give(result, {range.bound, range.error}, tolerance);
  else graph.give_rounded(result);
}

void add_resize(RandomGraph& graph) {
  Resize options{.mode = graph.one_of({Interpolation::nearest, Interpolation::bilinear, Interpolation::cubic}),
                 .coordinates = graph.one_of({tessera::Coordinates::half_pixel, tessera::Coordinates::align_corners,
                                              tessera::Coordinates::asymmetric}),
                 .nearest = graph.one_of({Nearest::prefer_lower, Nearest::prefer_upper, Nearest::down, Nearest::up})};
  const int height = graph.pick(1, 9), width = graph.pick(1, 9);
  if (options.mode == Interpolation::nearest) {
    const Value image = some_image(graph, every_dtype);
    return graph.give_moved(resize(image.tensor, height, width, options), image.range);
  }
  const Value image = some_image(graph, image_types);
  give_image(graph, resize(image.tensor, height, width, options), image.range.scaled(3), 2e-5);
}

void add_crops(RandomGraph& graph) {
  const Value image =
      graph.filled({graph.pick(1, 3), graph.pick(2, 7), graph.pick(2, 7), graph.pick(1, 4)}, image_types);
  const int count = graph.pick(1, 3);
  // Boxes that lie inside of the image, where nothing jumps.
  const Value corners = graph.filled_exactly({count, 4}, f32_only);
  const Tensor boxes = tanh(corners.tensor) * 0.4f + 0.5f;
  const Value of_images = graph.filled_exactly({count}, i32_only);
  const double slope = 14 * 2 * image.range.bound;
  give_image(graph,
             crop_and_resize(image.tensor, boxes, floor_mod(of_images.tensor, 3.0f), graph.pick(1, 5), graph.pick(1, 5),
                             {.extrapolation = 1}),
             {image.range.bound + 1, image.range.error + slope * 1e-5});
}

void add_affine(RandomGraph& graph) {
  const bool is_nearest = graph.chance(40);
  const Value image = some_image(graph, image_types);
  std::array<float, 6> matrix{};
  for (float& number : matrix) number = static_cast<float>(graph.real(-1.2, 1.2));
  const AffineTransform options{.mode = is_nearest ? Interpolation::nearest : Interpolation::bilinear,
                                .height = graph.pick(1, 7),
                                .width = graph.pick(1, 7),
                                .fill = {1}};
  const Tensor result = affine_transform(image.tensor, matrix, options);
  const Range range = either_of(image.range, {1, 0, 0});
  if (is_nearest) graph.give_moved(result, range);
  else give_image(graph, result, {range.bound, range.error + 1e-4 * range.bound});
}

void add_rotation(RandomGraph& graph) {
  const Value image = some_image(graph, image_types);
  const Rotate options{.fill = {1}, .centre_x = static_cast<float>(graph.real(0.2, 0.8))};
  graph.give_moved(rotate(image.tensor, static_cast<float>(graph.real(-3, 3)), options),
                   either_of(image.range, {1, 0, 0}));
}

void add_colour_matrix(RandomGraph& graph) {
  const int channels = graph.pick(1, 4), out = graph.pick(1, 4);
  const Value image = some_image(graph, image_types, channels);
  if (graph.chance(40)) {
    std::vector<float> numbers;
    for (int i = 0; i < channels * (channels + 1); ++i) numbers.push_back(static_cast<float>(graph.pick(-8, 8)) / 8);
    return give_image(graph, colour_matrix(image.tensor, numbers), sum_over(image.range, channels + 1));
  }
  const DType dtype = is_float(image.dtype()) ? image.dtype() : DType::f32;
  const Value matrix = graph.filled({out, channels + graph.pick(0, 1)}, dtype);
  give_image(graph, colour_matrix(image.tensor, matrix.tensor),
             sum_over(product_of(either_of(image.range, {1, 0, 0}), matrix.range), channels + 1));
}

void add_colour_lookup(RandomGraph& graph) {
  const Value image = some_image(graph, image_types, graph.pick(3, 4));
  const std::int64_t side = graph.pick(2, 4);
  const Value table = graph.filled({side, side, side, 3}, f32_only);
  const double steep = 2.0 * static_cast<double>(side) * 3;
  give_image(graph, colour_lookup(image.tensor, abs(tanh(table.tensor))),
             {std::max(1.0, image.range.bound),
              steep * image.range.error + table.range.error + (image.dtype() == DType::f16 ? 0.02 : 1e-5)});
}

struct Planes {
  Value y, uv;
};
Planes planes(RandomGraph& graph) {
  const DType dtype = graph.type_of(image_types);
  const std::int64_t height = graph.pick(1, 7), width = graph.pick(1, 7);
  return {graph.filled({height, width}, dtype), graph.filled({(height + 1) / 2, (width + 1) / 2, 2}, dtype)};
}
Yuv some_yuv(RandomGraph& graph) {
  return {.matrix = graph.one_of({Yuv::Matrix::bt601, Yuv::Matrix::bt709, Yuv::Matrix::bt2020}),
          .range = graph.one_of({Yuv::Range::limited, Yuv::Range::full})};
}

void add_from_yuv(RandomGraph& graph, bool is_nv12) {
  const auto [y, uv] = planes(graph);
  const Yuv yuv = some_yuv(graph);
  const DType result = graph.type_of(image_types);
  const bool of_bytes = y.dtype() == DType::u8;
  const Range range = of_bytes ? Range{6} : sum_of(y.range.scaled(1.2), uv.range.scaled(5));
  const Shape chroma{uv.shape()[0], uv.shape()[1]};
  const Tensor u = slice(uv.tensor, {0, 0, 0}, {-1, -1, 1}).reshape(chroma),
               v = slice(uv.tensor, {0, 0, 1}, {-1, -1, 1}).reshape(chroma);
  give_image(graph,
             is_nv12 ? nv12_to_rgb(y.tensor, uv.tensor, yuv, result) : yuv420_to_rgb(y.tensor, u, v, yuv, result),
             sum_of(range, {3}), 2e-5);
}

void add_to_yuv(RandomGraph& graph, bool is_nv12) {
  const Value rgb = some_image(graph, image_types, graph.pick(3, 4));
  const Yuv yuv = some_yuv(graph);
  const DType result = graph.type_of(image_types);
  const Range range = rgb.dtype() == DType::u8 ? Range{2} : sum_of(rgb.range.scaled(2), {2});
  if (is_nv12) {
    const auto [y, uv] = rgb_to_nv12(rgb.tensor, yuv, result);
    give_image(graph, y, range, 2e-5);
    give_image(graph, uv, range, 2e-5);
  } else {
    const auto [y, u, v] = rgb_to_yuv420(rgb.tensor, yuv, result);
    give_image(graph, y, range, 2e-5);
    give_image(graph, u, range, 2e-5);
    give_image(graph, v, range, 2e-5);
  }
}

// Reflecting takes images that are larger than what the taps reach over.
Border some_border(RandomGraph& graph, const Value& image, int radius) {
  const bool may_reflect = std::min(image.shape()[-3], image.shape()[-2]) > radius;
  return may_reflect ? graph.one_of({Border::zero, Border::edge, Border::reflect})
                     : graph.one_of({Border::zero, Border::edge});
}

void add_separable_filter(RandomGraph& graph) {
  const Value image = some_image(graph, image_types);
  const int radius = graph.pick(0, 2), taps = 2 * radius + 1;
  const Border border = some_border(graph, image, radius);
  if (graph.chance(50)) {
    std::vector<float> row, column;
    for (int i = 0; i < taps; ++i) {
      row.push_back(static_cast<float>(graph.pick(-8, 8)) / 8);
      column.push_back(static_cast<float>(graph.pick(-8, 8)) / 8);
    }
    return give_image(graph, separable_filter(image.tensor, row, column, border), sum_over(image.range, taps * taps));
  }
  const DType dtype = is_float(image.dtype()) ? image.dtype() : DType::f32;
  const Value row = graph.filled({taps}, dtype), column = graph.filled({taps}, dtype);
  give_image(graph, separable_filter(image.tensor, row.tensor, column.tensor, border),
             sum_over(product_of(product_of(image.range, row.range), column.range), taps * taps));
}

void add_histogram(RandomGraph& graph) {
  const Value image = some_image(graph, image_types, graph.pick(1, 4), true);
  if (graph.chance(40)) return graph.give_exact(histogram(image.tensor, 16));
  graph.give_exact(histogram(image.tensor, graph.one_of({1, 4, 10, 16}), -2, 2));
}

}  // namespace

std::vector<RandomOp> random_image_ops() {
  return {
      {"resize", add_resize},
      {"resize_bilinear",
       [](RandomGraph& graph) {
         const Value image = some_image(graph, image_types);
         give_image(graph, resize_bilinear(image.tensor, graph.pick(1, 9), graph.pick(1, 9)), image.range);
       }},
      {"crop_and_resize", add_crops},
      {"affine_transform", add_affine},
      {"rotate", add_rotation},
      {"flip_left_right",
       [](RandomGraph& graph) {
         const Value image = some_image(graph, every_dtype);
         graph.give_moved(flip_left_right(image.tensor), image.range);
       }},
      {"flip_up_down",
       [](RandomGraph& graph) {
         const Value image = some_image(graph, every_dtype);
         graph.give_moved(flip_up_down(image.tensor), image.range);
       }},
      {"to_float", [](RandomGraph& graph) { graph.give(to_float(graph.any(u8_only).tensor), {1}, 1e-6); }},
      {"to_u8",
       [](RandomGraph& graph) {
         const Value x = graph.exact(float_types);
         if (x.range.fraction_bits <= 10) graph.give_exact(to_u8(x.tensor));
         else graph.give_rounded(to_u8(x.tensor));
       }},
      {"colour_matrix", add_colour_matrix},
      {"colour_lookup", add_colour_lookup},
      {"nv12_to_rgb", [](RandomGraph& graph) { add_from_yuv(graph, true); }},
      {"yuv420_to_rgb", [](RandomGraph& graph) { add_from_yuv(graph, false); }},
      {"rgb_to_nv12", [](RandomGraph& graph) { add_to_yuv(graph, true); }},
      {"rgb_to_yuv420", [](RandomGraph& graph) { add_to_yuv(graph, false); }},
      {"separable_filter", add_separable_filter},
      {"gaussian_blur",
       [](RandomGraph& graph) {
         const Value image = some_image(graph, image_types);
         const Border border = some_border(graph, image, 3);
         give_image(graph, gaussian_blur(image.tensor, static_cast<float>(graph.real(0.3, 0.95)), border), image.range);
       }},
      {"sobel",
       [](RandomGraph& graph) {
         const Value image = some_image(graph, image_types);
         const auto [x, y] = sobel(image.tensor, some_border(graph, image, 1));
         const Range range = sum_over(is_float(image.dtype()) ? image.range : Range{255}, 8);
         graph.give(x, range);
         graph.give(y, range);
       }},
      {"histogram", add_histogram},
  };
}

}  // namespace tessera::test
