// Tensors one after the other.
#include <algorithm>
#include <array>

#include "core/kernel/gather_parameters.h"
#include "core/ops/axis_view.h"
#include <tessera/gather.h>

namespace tessera {
namespace {

// There is an entry for each number of operands.
constexpr KernelEntry<ConcatParameters, ConcatOptions> entry_of(std::string_view name) {
  return {{.name = name, .file = "concat", .reads_once = true}};
}
constexpr std::array entries{entry_of("concat_2"), entry_of("concat_3"), entry_of("concat_4"),
                             entry_of("concat_5"), entry_of("concat_6"), entry_of("concat_7")};
// The number of storage buffers that any WebGPU device has beside the result.
constexpr std::size_t most_operands = entries.size() + 1;

void check_operands(std::string_view op, std::span<const Tensor> tensors) {
  if (tensors.empty()) fail(ErrorCode::invalid_argument, op, "no tensors are given; it takes at least 1.");
  const NodeInfo& first = TensorAccess::info(tensors[0]);
  for (const Tensor& tensor : tensors) {
    const NodeInfo& node = TensorAccess::info(tensor);
    check_same_context(op, first, node);
    if (node.dtype != first.dtype)
      fail(ErrorCode::dtype_mismatch, op,
           "the operands are " + std::string(to_string(first.dtype)) + " and " + std::string(to_string(node.dtype)) +
               "; cast one of them.");
  }
}

// Whether two shapes of the same rank are equal but for the axis.
bool differ_at_most_along(int axis, const Shape& a, const Shape& b) {
  for (int i = 0; i < a.rank(); ++i)
    if (i != axis && a[i] != b[i]) return false;
  return true;
}

Shape joined_shape(std::span<const Tensor> tensors, int axis) {
  std::vector<std::int64_t> dims(tensors[0].shape().dims().begin(), tensors[0].shape().dims().end()), sizes;
  for (const Tensor& tensor : tensors) sizes.push_back(tensor.shape()[axis]);
  dims[static_cast<std::size_t>(axis)] = size_sum("concat", sizes);
  return result_shape("concat", dims);
}

// Joins two to most_operands tensors, none of them without elements.
Tensor one_kernel(std::span<const Tensor> tensors, int axis) {
  ConcatParameters parameters;
  std::int64_t row = 0;
  bool reads_texels = true;
  for (const Tensor& tensor : tensors) {
    std::int64_t piece = 1;
    for (int inner = axis; inner < tensor.shape().rank(); ++inner) piece *= tensor.shape()[inner];
    parameters.pieces.push_back({row, piece});
    row += piece;
    reads_texels = reads_texels && piece % 4 == 0;
  }
  parameters.row_size = row;
  return family_tensor(joined_shape(tensors, axis), tensors[0].dtype(),
                       entries[tensors.size() - 2].with(parameters, {.reads_texels = reads_texels}), tensors);
}

}  // namespace

Tensor concat(std::span<const Tensor> tensors, int axis) {
  check_operands("concat", tensors);
  const Shape& first = tensors[0].shape();
  const int checked = checked_axis("concat", axis, first.rank());
  for (const Tensor& tensor : tensors)
    if (tensor.shape().rank() != first.rank() || !differ_at_most_along(checked, tensor.shape(), first))
      fail(ErrorCode::shape_mismatch, "concat",
           "shapes " + first.to_string() + " and " + tensor.shape().to_string() + " differ at more than axis " +
               std::to_string(checked) + ".");
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors)
    if (tensor.shape().size() != 0) parts.push_back(tensor);
  const Shape result = joined_shape(tensors, checked);
  if (parts.empty()) return number_like(tensors[0], result, 0);
  // Each round joins neighbours, so that an element moves once a round.
  while (parts.size() > 1) {
    std::vector<Tensor> joined;
    for (std::size_t begin = 0; begin < parts.size(); begin += most_operands) {
      const std::span<const Tensor> group =
          std::span(parts).subspan(begin, std::min(most_operands, parts.size() - begin));
      joined.push_back(group.size() == 1 ? group[0] : one_kernel(group, checked));
    }
    parts = std::move(joined);
  }
  return parts[0];
}

Tensor stack(std::span<const Tensor> tensors, int axis) {
  check_operands("stack", tensors);
  const Shape& first = tensors[0].shape();
  const int checked = checked_axis("stack", axis, first.rank() + 1);
  std::vector<Tensor> layers;
  for (const Tensor& tensor : tensors) {
    if (tensor.shape() != first)
      fail(ErrorCode::shape_mismatch, "stack",
           "shapes " + first.to_string() + " and " + tensor.shape().to_string() + " differ.");
    layers.push_back(expand_dims(tensor, checked));
  }
  return concat(layers, checked);
}

}  // namespace tessera
