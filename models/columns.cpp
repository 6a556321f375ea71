// Windows of an image as columns of a matrix.
#include <algorithm>

#include "models/indices.h"
#include "models/window.h"

namespace tessera::onnx {

namespace {

// [batch,channels * places in a block,blocks] to an image: what blocks have in common is summed.
Results image_of_columns(const Call& call) {
  call.expect_rank(0, 3, 3);
  const Sizes image = call.integers_of(1), block = call.integers_of(2);
  const std::size_t axes = image.size();
  call.expect(axes >= 1 && axes <= 3 && block.size() == axes, "its image and its block have not as many axes.");
  const Sizes strides = spatial_attribute(call, "strides", axes, 1, 1),
              dilations = spatial_attribute(call, "dilations", axes, 1, 1),
              pads = spatial_attribute(call, "pads", 2 * axes, 0, 0);
  std::int64_t pixels = 1, places = 1, blocks = 1;
  Sizes counts;
  for (std::size_t i = 0; i < axes; ++i) {
    call.expect(image[i] >= 1 && block[i] >= 1 && image[i] <= 65536 && block[i] <= 65536 && dilations[i] <= 65536 &&
                    pads[i] <= 65536 && pads[i + axes] <= 65536,
                "a size is not possible.");
    const std::int64_t room = image[i] + pads[i] + pads[i + axes] - (block[i] - 1) * dilations[i] - 1;
    call.expect(room >= 0, "its block does not fit the image.");
    counts.push_back(room / strides[i] + 1);
    pixels *= image[i], places *= block[i], blocks *= counts.back();
  }
  const Shape& shape = call.shape(0);
  call.expect(shape[2] == blocks && shape[1] % places == 0 && places * blocks <= 1 << 24,
              "its input " + shape.to_string() + " does not fit " + std::to_string(blocks) + " blocks of " +
                  std::to_string(places) + " places.");
  std::vector<std::int32_t> targets;  // of each place of each block; padding is nowhere
  for (std::int64_t place = 0; place < places; ++place)
    for (std::int64_t which = 0; which < blocks; ++which) {
      std::int64_t rest_of_place = place, rest_of_block = which, target = 0, step = 1;
      for (std::size_t i = axes; i-- > 0;) {
        const std::int64_t at =
            rest_of_block % counts[i] * strides[i] + rest_of_place % block[i] * dilations[i] - pads[i];
        target = target < 0 || at < 0 || at >= image[i] ? -1 : target + at * step;
        step *= image[i], rest_of_block /= counts[i], rest_of_place /= block[i];
      }
      targets.push_back(target < 0 ? INT32_MAX : static_cast<std::int32_t>(target));
    }
  const std::int64_t batch = shape[0], channels = shape[1] / places;
  const Tensor rows = permuted(call.tensor(0).reshape({batch, channels, places, blocks}), {2, 3, 0, 1})
                          .reshape({places * blocks, batch * channels});
  const Tensor sums =
      scatter_nd(call.context().tensor({places * blocks, 1}, targets), rows, {pixels, batch * channels});
  Sizes sizes{batch, channels};
  sizes.insert(sizes.end(), image.begin(), image.end());
  return {call.give(permuted(sums, {1, 0}).reshape(Shape(sizes)))};
}

// A convolution whose places are moved by the offsets, each sampled between four pixels, and weighted by the mask.
Results deformable_conv(const Call& call) {
  call.expect_rank(0, 4, 4);
  call.expect_rank(1, 4, 4);
  call.expect_rank(2, 4, 4);
  const Shape &image = call.shape(0), &filter = call.shape(1);
  const std::int64_t rows = filter[2], columns = filter[3], taps = rows * columns, groups = call.integer("group", 1),
                     moved = call.integer("offset_group", 1), channels = image[1], results = filter[0];
  const Window window = window_of(call, image, {rows, columns});
  const Sizes &strides = window.strides, &dilations = window.dilations;
  const Shape& offset = call.shape(2);
  const std::int64_t batch = image[0], height = offset[2], width = offset[3];
  const auto expected = [&](std::size_t axis) {
    const PadWidth& pad = window.pads[axis];
    return (image[static_cast<int>(axis) + 2] + pad.before + pad.after - window.reach(axis)) / strides[axis] + 1;
  };
  call.expect(groups >= 1 && moved >= 1 && channels % groups == 0 && channels % moved == 0 && results % groups == 0 &&
                  filter[1] * groups == channels && offset == Shape{batch, moved * taps * 2, expected(0), expected(1)},
              "its image " + image.to_string() + ", filter " + filter.to_string() + " and offsets " +
                  offset.to_string() + " do not fit.");
  // [batch,height,width,groups of offsets,taps], of rows and of columns
  const Tensor offsets = transpose(call.tensor(2).reshape({batch, moved, taps, 2, height, width}), {3, 0, 4, 5, 1, 2});
  const auto place = [&](std::size_t axis) {
    const std::int64_t size = axis == 0 ? height : width;
    const Tensor tap = count_along(call, 4, 5, taps),
                 step = axis == 0 ? tap / static_cast<double>(columns) : trunc_mod(tap, static_cast<double>(columns));
    const Tensor start = count_along(call, static_cast<int>(axis) + 1, 5, size) * static_cast<double>(strides[axis]) +
                         step * static_cast<double>(dilations[axis]) - static_cast<double>(window.pads[axis].before);
    const Tensor moves =
        squeeze(slice(offsets, {static_cast<std::int64_t>(axis), 0, 0, 0, 0, 0}, {1, -1, -1, -1, -1, -1}), {0});
    return moves + start.cast(moves.dtype());
  };
  const Tensor y = place(0), x = place(1), top = floor(y), left = floor(x), dy = y - top, dx = x - left;
  const Tensor pixels =
      call.tensor(0, Order::channels_last).reshape({batch, image[2], image[3], moved, channels / moved});
  Tensor samples;
  for (const int down : {0, 1})
    for (const int across : {0, 1}) {
      const Tensor weight = (down ? dy : 1 - dy) * (across ? dx : 1 - dx);
      const Tensor part = pixels_at(call, pixels, {top + down, left + across}, {count_along(call, 3, 5, moved)}) *
                          expand_dims(weight, -1);
      samples = samples.is_empty() ? part : samples + part;
    }
  if (call.has(4)) {
    call.expect(call.shape(4) == Shape{batch, moved * taps, height, width}, "its mask does not fit its offsets.");
    samples = samples *
              expand_dims(transpose(call.tensor(4).reshape({batch, moved, taps, height, width}), {0, 3, 4, 1, 2}), -1);
  }
  // [groups,places,taps * channels of a group] times the filters of each group
  const std::int64_t places = batch * height * width, share = channels / groups, made = results / groups;
  const Tensor rows_of_groups =
      transpose(transpose(samples, {0, 1, 2, 4, 3, 5}).reshape({places, taps, groups, share}), {2, 0, 1, 3})
          .reshape({groups, places, taps * share});
  const Tensor filters = transpose(call.tensor(1).reshape({groups, made, share, taps}), {0, 3, 2, 1})
                             .reshape({groups, taps * share, made});
  Tensor y_result = permuted(matmul(rows_of_groups, filters), {1, 0, 2}).reshape({batch, height, width, results});
  if (call.has(3)) y_result = y_result + call.tensor(3);
  return {call.give(y_result, Order::channels_last)};
}

}  // namespace

const Operators& column_operators() {
  static const Operators rows{{"Col2Im", 18, image_of_columns}, {"DeformConv", 19, deformable_conv}};
  return rows;
}

}  // namespace tessera::onnx
