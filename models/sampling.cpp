// Samples of an image at places that tensors say.
#include <functional>

#include "models/indices.h"

namespace tessera::onnx {

namespace {

struct Grid {
  const Call& call;
  Tensor image;  // [batch,height,width,channels]
  bool aligns_corners;
  std::string padding;

  // From -1 … 1 to pixels.
  Tensor to_pixels(const Tensor& place, double size) const {
    return aligns_corners ? (place + 1) * ((size - 1) / 2) : (place + 1) * (size / 2) - 0.5;
  }

  Tensor reflected(const Tensor& place, double size) const {
    const double low = aligns_corners ? 0 : -0.5, length = aligns_corners ? size - 1 : size;
    if (length == 0) return place * 0;
    const Tensor distance = abs(place - low), rest = trunc_mod(distance, length), turns = floor(distance / length);
    return where(trunc_mod(turns, 2) > 0.5, length - rest, rest) + low;
  }

  Tensor inside(const Tensor& place, double size) const {
    if (padding == "border") return clip(place, 0, size - 1);
    if (padding == "reflection") return clip(reflected(place, size), 0, size - 1);
    return place;
  }

  // Pixels at whole places [batch,rows,columns]; beyond the image zeros.
  Tensor at(const Tensor& y, const Tensor& x) const {
    const double bottom = static_cast<double>(image.shape()[1] - 1), right = static_cast<double>(image.shape()[2] - 1);
    const Tensor is_inside = logical_and(logical_and(y >= 0, y <= bottom), logical_and(x >= 0, x <= right));
    const Tensor row = clip(y, 0, bottom).cast(DType::i32), column = clip(x, 0, right).cast(DType::i32);
    const Tensor batch = broadcast_to(count_along(call, 0, 3, image.shape()[0]), row.shape());
    const Tensor pixels = gather_nd(image, stack({batch, row, column}, -1));
    return where(expand_dims(is_inside, -1), pixels, 0);
  }
};

Tensor cubic_weight(const Tensor& t, int offset) {
  constexpr double a = -0.75;
  const Tensor d = abs(t - offset);
  if (offset == 0 || offset == 1) return ((d * (a + 2) - (a + 3)) * d) * d + 1;
  return ((d * a - 5 * a) * d + 8 * a) * d - 4 * a;
}

Results grid_sample(const Call& call) {
  call.expect_rank(0, 4, 4);
  call.expect_rank(1, 4, 4);
  call.expect(call.shape(1)[3] == 2 && call.shape(1)[0] == call.shape(0)[0],
              "its grid " + call.shape(1).to_string() + " does not fit the image " + call.shape(0).to_string() + ".");
  const Grid grid{call, call.tensor(0, Order::channels_last), call.integer("align_corners", 0) != 0,
                  call.text("padding_mode", "zeros")};
  if (grid.padding != "zeros" && grid.padding != "border" && grid.padding != "reflection")
    call.unsupported("there is no padding mode '" + grid.padding + "'.");
  const std::string mode = call.text("mode", "bilinear");
  const double height = static_cast<double>(call.shape(0)[2]), width = static_cast<double>(call.shape(0)[3]);
  const Tensor places = call.tensor(1);
  const Shape plane{call.shape(1)[0], call.shape(1)[1], call.shape(1)[2]};
  const auto coordinate = [&](std::int64_t which) {
    return slice(places, {0, 0, 0, which}, {-1, -1, -1, 1}).reshape(plane);
  };
  const Tensor x = grid.to_pixels(coordinate(0), width), y = grid.to_pixels(coordinate(1), height);
  const auto result = [&](const Tensor& pixels) -> Results { return {call.give(pixels, Order::channels_last)}; };
  if (mode == "nearest") return result(grid.at(round(grid.inside(y, height)), round(grid.inside(x, width))));
  Tensor total;
  const auto add = [&](const Tensor& pixels, const Tensor& down, const Tensor& across) {
    const Tensor part = pixels * expand_dims(down, -1) * expand_dims(across, -1);
    total = total.is_empty() ? part : total + part;
  };
  if (mode == "bilinear" || mode == "linear") {
    const Tensor py = grid.inside(y, height), px = grid.inside(x, width), top = floor(py), left = floor(px),
                 dy = py - top, dx = px - left;
    for (const int down : {0, 1})
      for (const int across : {0, 1}) add(grid.at(top + down, left + across), down ? dy : 1 - dy, across ? dx : 1 - dx);
    return result(total);
  }
  if (mode != "bicubic" && mode != "cubic") call.unsupported("there is no mode '" + mode + "'.");
  const Tensor top = floor(y), left = floor(x), dy = y - top, dx = x - left;
  for (int down = -1; down < 3; ++down)
    for (int across = -1; across < 3; ++across)
      add(grid.at(grid.inside(top + down, height), grid.inside(left + across, width)), cubic_weight(dy, down),
          cubic_weight(dx, across));
  return result(total);
}

// The image with its edge repeated once, of which boxes are cut; then the mean of each bin's samples.
Results roi_align(const Call& call) {
  call.expect_rank(0, 4, 4);
  call.expect_rank(1, 2, 2);
  const std::int64_t rows = call.integer("output_height", 1), columns = call.integer("output_width", 1),
                     samples = call.integer("sampling_ratio", 0);
  const bool is_half = call.text("coordinate_transformation_mode",
                                 call.opset() >= 16 ? "half_pixel" : "output_half_pixel") == "half_pixel";
  if (samples < 1 || call.text("mode", "avg") != "avg")
    call.unsupported("a number of samples that depends on the box, or their maximum.");
  call.expect(rows > 0 && columns > 0 && rows < 65536 && columns < 65536 && samples < 256, "its result has no size.");
  const Tensor image = pad(call.tensor(0, Order::channels_last), {{}, {1, 1}, {1, 1}, {}}, PadMode::edge);
  const Tensor boxes = call.tensor(1) * call.number("spatial_scale", 1) - (is_half ? 0.5 : 0.0);
  const std::int64_t count = boxes.shape()[0];
  const auto column = [&](std::int64_t which) { return slice(boxes, {0, which}, {count, 1}).reshape({count}); };
  const auto ends = [&](std::int64_t first, std::int64_t last, std::int64_t bins, std::int64_t size) {
    Tensor length = column(last) - column(first);
    if (!is_half) length = maximum(length, 1);
    const Tensor step = length / static_cast<double>(bins), begin = column(first) + step * 0.5;
    const double range = static_cast<double>(size) + 1;
    return std::pair{(begin + 1) / range, (begin + step * static_cast<double>(bins - 1) + 1) / range};
  };
  const auto [top, bottom] = ends(1, 3, rows * samples, call.shape(0)[2]);
  const auto [left, right] = ends(0, 2, columns * samples, call.shape(0)[3]);
  const Tensor cut = crop_and_resize(image, stack({top, left, bottom, right}, 1), call.tensor(2).cast(DType::i32),
                                     rows * samples, columns * samples);
  return {call.give(average_pool(cut, {.size = {samples, samples}}), Order::channels_last)};
}

}  // namespace

const Operators& sampling_operators() {
  static const Operators rows{{"GridSample", 1, grid_sample}, {"RoiAlign", 1, roi_align}};
  return rows;
}

}  // namespace tessera::onnx
