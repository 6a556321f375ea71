// Pads tensors.
#include "core/kernel/gather_parameters.h"
#include "core/ops/axis_view.h"
#include "core/ops/pointwise.h"
#include <tessera/gather.h>

namespace tessera {
namespace {

constexpr KernelEntry<PadParameters, PadOptions> pad_entry{{.name = "pad", .file = "gather", .reads_once = true}};

// Joins neighbours without padding into one axis.
std::vector<PaddedAxis> axes_of(const Shape& shape, const std::vector<PadWidth>& padding) {
  std::vector<PaddedAxis> axes;
  std::int64_t block = 1, stride = 1;
  bool may_join = false;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const auto& [before, after] = padding[static_cast<std::size_t>(axis)];
    const std::int64_t size = shape[axis] + before + after;
    const bool is_padded = size != shape[axis];
    if (may_join && !is_padded) {
      axes.back().size = axes.back().size * size;
      axes.back().source_size = axes.back().source_size * size;
    } else {
      axes.push_back({block, size, before, shape[axis], stride});
    }
    may_join = !is_padded;
    block *= size;
    stride *= shape[axis];
  }
  return axes;
}

void check_padding(const Shape& shape, const std::vector<PadWidth>& padding, PadMode mode) {
  check_one_per_axis("pad", "paddings", padding.size(), shape);
  for (int axis = 0; axis < shape.rank(); ++axis)
    for (const std::int64_t count :
         {padding[static_cast<std::size_t>(axis)].before, padding[static_cast<std::size_t>(axis)].after}) {
      if (count < 0)
        fail(ErrorCode::invalid_argument, "pad",
             "the padding " + std::to_string(count) + " along " + axis_of(axis, shape) + " is below 0.");
      if (mode == PadMode::reflect && count > 0 && count >= shape[axis])
        fail(ErrorCode::invalid_argument, "pad",
             "the padding " + std::to_string(count) + " along " + axis_of(axis, shape) + " is not below its size " +
                 std::to_string(shape[axis]) + ": there is nothing to reflect.");
      if (mode == PadMode::edge && count > 0 && shape[axis] == 0)
        fail(ErrorCode::invalid_argument, "pad",
             axis_of(axis, shape) + " has no elements, so no edge to repeat " + std::to_string(count) + " times.");
    }
}

}  // namespace

Tensor pad(const Tensor& x, const std::vector<PadWidth>& padding, double value) {
  return pad(x, padding, PadMode::constant, value);
}

Tensor pad(const Tensor& x, const std::vector<PadWidth>& padding, PadMode mode, double value) {
  const Shape& shape = x.shape();
  check_padding(shape, padding, mode);
  std::vector<std::int64_t> dims;
  for (const auto& [before, after] : padding)
    dims.push_back(size_sum("pad", {shape[static_cast<int>(dims.size())], before, after}));
  const Shape result = result_shape("pad", dims);
  const NodePtr around = number_node("pad", TensorAccess::info(x).context, result, x.dtype(), value);
  if (result == shape) return x;
  if (shape.size() == 0 || result.size() == 0) return TensorAccess::tensor(around);
  const std::vector<PaddedAxis> axes = axes_of(shape, padding);
  const std::int64_t innermost = axes[0].size;
  const bool reads_texels = innermost == std::int64_t{axes[0].source_size} && innermost % 4 == 0;
  Family family =
      pad_entry.with({.value = number_of(value, x.dtype()).bits, .axes = axes},
                     {.mode = static_cast<std::int32_t>(mode), .axes = axes.size(), .reads_texels = reads_texels});
  return family_tensor(result, x.dtype(), std::move(family), {x});
}

}  // namespace tessera
