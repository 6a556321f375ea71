// Tensors one after the other.
#include <algorithm>
#include <array>

#include "core/ops/axis_view.h"
#include <tessera/gather.h>

namespace tessera {
namespace {

// The result is made of rows, each of them a piece of each operand in turn. An entry knows how many operands it has.
// Words: the elements of a row; then, for each operand, where its piece starts in a row and how many elements it has.
// Options: 1 where no texel lies in two pieces, so that operands can be read by the texel.
// As many operands as there are storage buffers beside the result on any WebGPU device.
constexpr std::size_t most_operands = 7;
using Entries = std::array<FamilyEntry, most_operands - 1>;

constexpr Entries entries_of(const std::array<std::string_view, most_operands - 1>& names) {
  Entries entries{};
  for (std::size_t i = 0; i < names.size(); ++i) entries[i] = {.name = names[i], .file = "concat", .reads_once = true};
  return entries;
}
constexpr Entries entries = entries_of({"concat_2", "concat_3", "concat_4", "concat_5", "concat_6", "concat_7"});

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
  for (int other = 0; other < a.rank(); ++other)
    if (other != axis && a[other] != b[other]) return false;
  return true;
}

Shape joined_shape(std::span<const Tensor> tensors, int axis) {
  std::vector<std::int64_t> dims(tensors[0].shape().dims().begin(), tensors[0].shape().dims().end()), sizes;
  for (const Tensor& tensor : tensors) sizes.push_back(tensor.shape()[axis]);
  dims[static_cast<std::size_t>(axis)] = size_sum("concat", sizes);
  return result_shape("concat", dims);
}

// Of two to most_operands tensors, none of them without elements.
Tensor one_kernel(std::span<const Tensor> tensors, int axis) {
  std::vector<std::uint32_t> words{0};
  std::int64_t row = 0;
  bool by_texel = true;
  for (const Tensor& tensor : tensors) {
    std::int64_t piece = 1;
    for (int inner = axis; inner < tensor.shape().rank(); ++inner) piece *= tensor.shape()[inner];
    words.insert(words.end(), {word_of(row), word_of(piece)});
    row += piece;
    by_texel = by_texel && piece % 4 == 0;
  }
  words[0] = word_of(row);
  return family_tensor(joined_shape(tensors, axis), tensors[0].dtype(),
                       {.entry = &entries[tensors.size() - 2], .options = {by_texel}, .words = std::move(words)},
                       tensors);
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
  // By rounds: each joins neighbours, so that an element moves once a round.
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
