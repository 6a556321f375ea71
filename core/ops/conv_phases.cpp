#include "core/ops/conv_phases.h"

#include <algorithm>

#include <tessera/conv.h>
#include <tessera/gather.h>

namespace tessera {
namespace {

// An axis of the result before it is cut: element phase + phases * at is made by the taps of that phase, in reverse,
// from the image's elements before `at`.
struct PhaseAxis {
  std::int64_t phases, taps, dilation;
  std::int64_t pad_before, pad_after;  // of the image
  std::int64_t places;                 // from which each phase has one element
  std::int64_t begin, result;          // the elements that are wanted
};

PhaseAxis phases_of(const WindowAxis& axis) {
  const std::int64_t phases = axis.stride, taps = axis.taps / phases, before = axis.before, image = axis.image,
                     result = axis.result, dilation = axis.dilation;
  const std::int64_t reach = (taps - 1) * dilation;  // back from the last tap to the first
  const std::int64_t first = std::min(before / phases, reach);
  const std::int64_t last = std::max((before + result - 1) / phases, image - 1);
  return {.phases = phases,
          .taps = taps,
          .dilation = dilation,
          .pad_before = reach - first,
          .pad_after = last + 1 - image,
          .places = last + 1 - first,
          .begin = before - phases * first,
          .result = result};
}

}  // namespace

bool has_equal_phases(std::span<const WindowAxis> axes) {
  return std::all_of(axes.begin(), axes.end(), [](const WindowAxis& axis) {
    return axis.stride == 1 || (axis.dilation == 1 && axis.taps % axis.stride == 0);
  });
}

Tensor conv_in_phases(const Tensor& image, const Tensor& filter, std::span<const WindowAxis> axes,
                      std::int64_t groups) {
  const PhaseAxis down = phases_of(axes[0]), across = phases_of(axes[1]);
  const std::int64_t batch = image.shape()[0], out = filter.shape()[2], in = filter.shape()[3] / groups,
                     channels = groups * out;

  // [height,width,out,in] to [height,width,in,out], with the phases among the results.
  Tensor taps = filter.reshape({down.taps, down.phases, across.taps, across.phases, out, groups, in});
  taps = transpose(reverse(taps, {0, 2}), {0, 2, 6, 5, 1, 3, 4})
             .reshape({down.taps, across.taps, in, channels * down.phases * across.phases});

  const Tensor made = conv2d(image, taps,
                             {.dilations = {down.dilation, across.dilation},
                              .pads = {{down.pad_before, down.pad_after, across.pad_before, across.pad_after}},
                              .groups = groups});
  const Tensor in_order =
      transpose(made.reshape({batch, down.places, across.places, groups, down.phases, across.phases, out}),
                {0, 1, 4, 2, 5, 3, 6})
          .reshape({batch, down.places * down.phases, across.places * across.phases, channels});
  return slice(in_order, {0, down.begin, across.begin, 0}, {batch, down.result, across.result, channels});
}

}  // namespace tessera
