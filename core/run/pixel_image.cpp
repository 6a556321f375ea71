#include "core/run/pixel_image.h"

#include <algorithm>

namespace tessera {
namespace {

constexpr std::int64_t most_channels = 4;

// The stride of an axis of a result, of which `block` elements lie between neighbours: a term has all of the axis, or
// nothing of it.
std::optional<std::int64_t> stride_of_axis(std::span<const Term> terms, std::int64_t block, std::int64_t size) {
  if (size == 1) return 0;
  for (const Term& term : terms) {
    const std::int64_t end = term.block * term.size;
    if (term.block >= block * size || end <= block) continue;
    if (term.block > block || end < block * size || block % term.block != 0) return std::nullopt;
    return term.stride * (block / term.block);
  }
  return 0;
}

bool stays_within(const PixelMap::Axis& axis, const PixelImage& result, std::int64_t size) {
  std::int64_t lowest = axis.start, highest = axis.start;
  for (const std::int64_t move : {axis.of_x * (result.width - 1), axis.of_y * (result.height - 1)})
    (move < 0 ? lowest : highest) += move;
  return lowest >= 0 && highest < size;
}

}  // namespace

std::optional<PixelImage> pixel_image_of(const Shape& shape) {
  const int rank = shape.rank();
  if (rank < 2 || shape.size() == 0) return std::nullopt;
  for (int axis = 0; axis < rank - 3; ++axis)
    if (shape[axis] != 1) return std::nullopt;
  if (rank == 2) return PixelImage{shape[0], shape[1], 1};
  if (shape[-1] > most_channels) return std::nullopt;
  return PixelImage{shape[-3], shape[-2], shape[-1]};
}

std::optional<PixelImage> aligned_image(const Shape& operand, const Shape& reader) {
  const int rank = operand.rank();
  const auto size = [&](int from_end) { return from_end <= rank ? operand[-from_end] : 1; };
  for (int axis = 4; axis <= rank; ++axis)
    if (size(axis) != 1) return std::nullopt;
  if (reader.rank() == 2) return PixelImage{size(2), size(1), 1};
  return PixelImage{size(3), size(2), size(1)};
}

std::optional<PixelMap> pixel_map_of(const Strided& strided, std::int64_t offset, const PixelImage& from,
                                     const PixelImage& to) {
  const auto of_channel = stride_of_axis(strided.terms, 1, to.channels);
  const auto of_x = stride_of_axis(strided.terms, to.channels, to.width);
  const auto of_y = stride_of_axis(strided.terms, to.row(), to.height);
  if (!of_channel || !of_x || !of_y) return std::nullopt;
  offset += strided.offset;

  PixelMap map;
  map.y.start = offset / from.row();
  map.x.start = offset / from.channels % from.width;
  const std::int64_t first_channel = offset % from.channels;
  const auto split = [&](std::int64_t stride, std::int64_t PixelMap::Axis::*part) {
    if (stride % from.row() == 0) map.y.*part = stride / from.row();
    else if (stride % from.channels == 0) map.x.*part = stride / from.channels;
    else return false;
    return true;
  };
  if (!split(*of_x, &PixelMap::Axis::of_x) || !split(*of_y, &PixelMap::Axis::of_y)) return std::nullopt;
  for (std::int64_t c = 0; c < most_channels; ++c) {
    const std::int64_t channel = first_channel + *of_channel * std::min(c, to.channels - 1);
    if (channel < 0 || channel >= from.channels) return std::nullopt;
    map.channels[static_cast<std::size_t>(c)] = static_cast<int>(channel);
  }
  if (!stays_within(map.x, to, from.width) || !stays_within(map.y, to, from.height)) return std::nullopt;
  return map;
}

}  // namespace tessera
