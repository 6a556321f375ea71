// Samples of boxes of an image.
#include "models/operators.h"

namespace tessera::onnx {

namespace {

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
  static const Operators rows{{"RoiAlign", 1, roi_align}};
  return rows;
}

}  // namespace tessera::onnx
