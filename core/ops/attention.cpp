#include <tessera/attention.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernel/attention_parameters.h"
#include "core/ops/family.h"
#include <tessera/gather.h>
#include <tessera/matmul.h>
#include <tessera/pointwise.h>
#include <tessera/row.h>

namespace tessera {
namespace {

Held lowered_attention(const Node&);
using AttentionEntry = KernelEntry<AttentionParameters, AttentionOptions>;
constexpr AttentionEntry attention_octets{{.name = "attention_octets",
                                           .file = "attention",
                                           .is_cooperative = true,
                                           .in_octets = true,
                                           .lower = lowered_attention}};
constexpr AttentionEntry attention_by_texels{{.name = "attention_by_texels", .file = "attention"}};

constexpr std::int64_t octets_of_workgroup = 8, rows_of_octet = 8;  // as in the shaders
// Tiles have four rows at least. With fewer there are fewer scores than numbers in the keys, since keys are rows of
// four numbers and more; so that storing them costs little.
constexpr std::int64_t least_rows = 4;
// Each block of queries has passes of its own, which cost more than the memory of so many scores.
constexpr std::int64_t most_stored_scores = 1 << 22;
// Finding scores again for each texel costs less than two more passes if there are few of them.
constexpr std::int64_t most_reads_again = 1 << 18;

struct AttentionSizes {
  std::int64_t matrices, heads_together, queries, keys, depth, width;

  std::int64_t rows() const { return heads_together * queries; }
  std::int64_t scores() const { return matrices * rows() * keys; }
  std::int64_t elements() const {  // of all operands, and of the result
    return matrices * (rows() + keys) * (depth + width);
  }
};

std::string shape_and_type(const Tensor& x) { return x.shape().to_string() + " " + std::string(to_string(x.dtype())); }

[[noreturn]] void fail_to_attend(const Tensor& q, const Tensor& k, const Tensor& v, std::string_view reason) {
  fail(ErrorCode::shape_mismatch, "attention",
       "q " + q.shape().to_string() + ", k " + k.shape().to_string() + " and v " + v.shape().to_string() +
           " do not fit: " + std::string(reason) + ".");
}

AttentionSizes attention_sizes(const Tensor& q, const Tensor& k, const Tensor& v) {
  check_dtype("attention", q, is_float(q.dtype()), "floats");
  for (const Tensor* other : {&k, &v}) {
    check_same_context("attention", TensorAccess::info(q), TensorAccess::info(*other));
    if (other->dtype() != q.dtype())
      fail(ErrorCode::dtype_mismatch, "attention",
           "q is " + shape_and_type(q) + " and " + (other == &k ? "k" : "v") + " is " + shape_and_type(*other) +
               "; cast one of them.");
  }
  const int rank = q.shape().rank();
  if (rank < 2 || k.shape().rank() != rank || v.shape().rank() != rank)
    fail_to_attend(q, k, v, "they must be of one rank, from 2 on");
  AttentionSizes sizes{1, 1, q.shape()[-2], k.shape()[-2], q.shape()[-1], v.shape()[-1]};
  if (k.shape()[-1] != sizes.depth) fail_to_attend(q, k, v, "the last axes of q and k differ");
  if (v.shape()[-2] != sizes.keys) fail_to_attend(q, k, v, "there is not one value for each key");
  for (int axis = 0; axis < rank - 2; ++axis) {
    const std::int64_t size = q.shape()[axis], shared = k.shape()[axis];
    if (v.shape()[axis] != shared) fail_to_attend(q, k, v, "k and v differ along axis " + std::to_string(axis));
    const bool is_of_heads = axis == rank - 3;
    if (is_of_heads ? shared == 0 ? size != 0 : size % shared != 0 : size != shared)
      fail_to_attend(q, k, v,
                     is_of_heads ? "the heads of q are no multiple of those of k"
                                 : "q and k differ along axis " + std::to_string(axis));
    sizes.matrices *= shared;
    if (is_of_heads && shared != 0) sizes.heads_together = size / shared;
  }
  return sizes;
}

Shape with_matrices(const Shape& shape, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[dims.size() - 2] = rows;
  dims.back() = columns;
  return Shape(dims);
}

MaskKind checked_mask(const Tensor& q, std::int64_t keys, const std::optional<Tensor>& mask) {
  if (!mask) return MaskKind::none;
  check_same_context("attention", TensorAccess::info(q), TensorAccess::info(*mask));
  check_dtype("attention", *mask, mask->dtype() == DType::boolean || is_float(mask->dtype()),
              "booleans and floats as a mask");
  const Shape scores = with_matrices(q.shape(), q.shape()[-2], keys);
  bool stretches = mask->shape().rank() <= scores.rank();
  for (int axis = 1; stretches && axis <= mask->shape().rank(); ++axis)
    stretches = mask->shape()[-axis] == 1 || mask->shape()[-axis] == scores[-axis];
  if (!stretches)
    fail(ErrorCode::shape_mismatch, "attention",
         "the mask " + mask->shape().to_string() + " does not stretch to the scores " + scores.to_string() + ".");
  return mask->dtype() == DType::boolean ? MaskKind::sees : MaskKind::added;
}

// The mask's axes for every axis of the scores, innermost first.
std::vector<AttentionAxis> mask_axes(const Shape& mask, const Shape& q, std::int64_t keys) {
  std::vector<AttentionAxis> axes;
  std::int64_t distance = 1;
  for (int axis = 1; axis <= q.rank(); ++axis) {
    const std::int64_t size = axis <= mask.rank() ? mask[-axis] : 1;
    axes.push_back({axis == 1 ? keys : q[-axis], size == 1 ? 0 : distance});
    distance *= size;
  }
  return axes;
}

// The queries from `first` on, as the rows of scores that other operations store.
Tensor block_of_queries(const Tensor& q, const Tensor& k, const Tensor& v, const Attention& how,
                        const AttentionSizes& sizes, std::int64_t first, std::int64_t count) {
  const auto wide = [](const Tensor& x, const Shape& shape) { return x.cast(DType::f32).reshape(shape); };
  const auto part = [&](const Tensor& x) {  // of an axis of all queries, the last but one
    if (x.shape().rank() < 2 || x.shape()[-2] == 1 || count == sizes.queries) return x;
    std::vector<std::int64_t> begin(static_cast<std::size_t>(x.shape().rank()), 0);
    begin[begin.size() - 2] = first;
    const auto dims = with_matrices(x.shape(), count, x.shape()[-1]).dims();
    return slice(x, begin, {dims.begin(), dims.end()});
  };
  const Tensor rows = wide(part(q), {sizes.matrices, sizes.heads_together, count, sizes.depth});
  const Tensor keys = wide(k, {sizes.matrices, 1, sizes.keys, sizes.depth});
  const Tensor values = wide(v, {sizes.matrices, 1, sizes.keys, sizes.width});
  Tensor scores = (matmul(rows, keys, {.transpose_b = true}) * static_cast<double>(*how.scale))
                      .reshape(with_matrices(q.shape(), count, sizes.keys));
  const double unseen = -std::numeric_limits<double>::infinity();
  if (how.mask && how.mask->dtype() == DType::boolean) scores = where(part(*how.mask), scores, unseen);
  else if (how.mask) scores = scores + part(*how.mask).cast(DType::f32);
  if (how.causal) {
    const Tensor all = number_like(q, {count, sizes.keys}, 1).cast(DType::boolean);
    scores = where(triangle(all, Triangle::lower, first + how.past), scores, unseen);
  }
  const Tensor shares = softmax(scores).reshape({sizes.matrices, sizes.heads_together, count, sizes.keys});
  return matmul(shares, values).reshape(with_matrices(q.shape(), count, sizes.width)).cast(q.dtype());
}

// The scores of a block of queries are no more than the operands and the result, or 16 MiB.
Tensor attention_in_blocks(const Tensor& q, const Tensor& k, const Tensor& v, const Attention& how,
                           const AttentionSizes& sizes) {
  const std::int64_t most_stored = std::max(sizes.elements(), most_stored_scores);
  const std::int64_t blocks = std::min(sizes.queries, (sizes.scores() + most_stored - 1) / most_stored);
  const std::int64_t count = (sizes.queries + blocks - 1) / blocks;
  std::vector<Tensor> parts;
  for (std::int64_t first = 0; first < sizes.queries; first += count)
    parts.push_back(block_of_queries(q, k, v, how, sizes, first, std::min(count, sizes.queries - first)));
  return parts.size() == 1 ? parts[0] : concat(parts, -2);
}

Held lowered_attention(const Node& node) {
  const auto& family = std::get<Family>(node.operation);
  const auto parameters = from_words<AttentionParameters>(family.words);
  const auto options = from_options<AttentionOptions>(family.options);
  const auto operand = [&](std::size_t index) { return TensorAccess::tensor(node.inputs[index]); };
  const Tensor q = operand(0), k = operand(1), v = operand(2);
  const AttentionSizes sizes = attention_sizes(q, k, v);
  const std::int64_t again = (parameters.width - 1) * (5 * parameters.depth + 4) / 4;  // for each score
  if (again == 0 || sizes.scores() <= most_reads_again / again)
    return lowered(node, attention_by_texels.with(parameters, options));
  Attention how{.scale = parameters.scale, .causal = options.is_causal == 1, .past = parameters.past};
  if (static_cast<MaskKind>(options.mask_kind.bits) != MaskKind::none) how.mask = operand(3);
  return TensorAccess::held(attention_in_blocks(q, k, v, how, sizes));
}

// Zeros after the last elements of each row, so that rows are whole texels.
Tensor in_whole_texels(const Tensor& x) {
  const std::int64_t size = x.shape()[-1], whole = std::max<std::int64_t>((size + 3) / 4 * 4, 4);
  if (size == whole) return x;
  if (size == 0) return number_like(x, with_matrices(x.shape(), x.shape()[-2], whole), 0);
  std::vector<PadWidth> widths(static_cast<std::size_t>(x.shape().rank()));
  widths.back().after = whole - size;
  return pad(x, widths);
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Attention& options) {
  const AttentionSizes given = attention_sizes(q, k, v);
  const MaskKind mask_kind = checked_mask(q, given.keys, options.mask);
  if (options.past < 0)
    fail(ErrorCode::invalid_argument, "attention",
         "past is " + std::to_string(options.past) + "; it must be 0 or more.");
  Attention how = options;
  if (!how.scale)
    how.scale = given.depth == 0 ? 1.0f : static_cast<float>(1 / std::sqrt(static_cast<double>(given.depth)));
  const Shape result = with_matrices(q.shape(), given.queries, given.width);
  if (result.size() == 0 || given.keys == 0) return number_like(q, result, std::numeric_limits<double>::quiet_NaN());
  const Tensor queries = in_whole_texels(q), keys = in_whole_texels(k), values = in_whole_texels(v);
  const AttentionSizes sizes = attention_sizes(queries, keys, values);
  if (sizes.rows() < least_rows) return attention_in_blocks(queries, keys, v, how, attention_sizes(queries, keys, v));
  const std::int64_t texels = sizes.width / 4, columns = texels > 16 ? 4 : texels > 8 ? 2 : 1;
  const std::int64_t stripes = (sizes.rows() + rows_of_octet - 1) / rows_of_octet;
  const std::int64_t column_stripes = (texels + rows_of_octet * columns - 1) / (rows_of_octet * columns);
  AttentionParameters parameters{.rows = sizes.rows(),
                                 .queries = sizes.queries,
                                 .keys = sizes.keys,
                                 .depth = sizes.depth / 4,
                                 .width = sizes.width / 4,
                                 .past = std::min(how.past, sizes.keys),
                                 .scale = *how.scale,
                                 .stripes = stripes,
                                 .column_stripes = column_stripes,
                                 .tiles = stripes * column_stripes * sizes.matrices,
                                 .mask = mask_axes(how.mask ? how.mask->shape() : Shape{}, q.shape(), sizes.keys)};
  Family family = attention_octets.with(parameters, {.mask_kind = static_cast<std::int64_t>(mask_kind),
                                                     .mask_axes = static_cast<std::int64_t>(parameters.mask.size()),
                                                     .is_causal = how.causal,
                                                     .columns = columns,
                                                     .whole_quads = sizes.keys % 4 == 0});
  family.workgroups = (parameters.tiles + octets_of_workgroup - 1) / octets_of_workgroup;
  const Tensor made = family_tensor(with_matrices(q.shape(), sizes.queries, sizes.width), q.dtype(), std::move(family),
                                    {queries, keys, values, how.mask ? *how.mask : number_like(q, {}, 0)});
  if (sizes.width == given.width) return made;
  return slice(made, std::vector<std::int64_t>(static_cast<std::size_t>(result.rank()), 0),
               {result.dims().begin(), result.dims().end()});
}

}  // namespace tessera
