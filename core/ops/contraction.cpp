#include "core/ops/contraction.h"

#include <algorithm>

#include <tessera/pointwise.h>
#include <tessera/reduce.h>

namespace tessera {
namespace {

// Words: how many products are summed; then size, distance in a and distance in b of each kept and each summed axis.
// Options: the numbers of kept and of summed axes, FromA, FromB.
constexpr FamilyEntry matmul_pull{.name = "matmul_pull", .file = "matmul"};

// The same with more words, for a batch of matrices: see shaders_wgsl/matmul.wgsl.
// Words: from one texel of an invocation to its next; blocks of each matrix, and of all.
Held as_pull(const Node&);
constexpr FamilyEntry matmul_block{.name = "matmul_block", .file = "matmul", .is_cooperative = true, .lower = as_pull};

// How the four results of a texel get at their elements.
enum class FromA : std::int32_t { four_elements, two_elements, one_element, texel_along_sum };
enum class FromB : std::int32_t { four_elements, texel_along_result, texels_along_sum };

// Axes that stretch in one operand or the other may have more elements together than any tensor.
std::int64_t elements_along(std::string_view op, std::span<const PairedAxis> axes) {
  std::vector<std::int64_t> sizes;
  for (const PairedAxis& axis : axes) sizes.push_back(axis.size);
  return size_product(op, sizes);
}

// Without axes of one element, and with one axis for neighbours that both operands walk along without a jump.
std::vector<PairedAxis> joined(std::span<const PairedAxis> axes) {
  std::vector<PairedAxis> result;
  for (const PairedAxis& axis : axes) {
    if (axis.size == 1) continue;
    if (!result.empty() && result.back().a * result.back().size == axis.a &&
        result.back().b * result.back().size == axis.b)
      result.back().size *= axis.size;
    else result.push_back(axis);
  }
  return result;
}

void swap_operands(std::vector<PairedAxis>& axes) {
  for (PairedAxis& axis : axes) std::swap(axis.a, axis.b);
}

// Whether groups of four elements that start at a multiple of four along the first of the axes are texels of an
// operand, wherever the other axes are.
bool has_texels(std::span<const PairedAxis> axes, std::span<const PairedAxis> others,
                std::int64_t PairedAxis::*distance) {
  const auto is_aligned = [&](const PairedAxis& axis) { return axis.*distance % 4 == 0; };
  return !axes.empty() && axes[0].*distance == 1 && axes[0].size % 4 == 0 &&
         std::all_of(axes.begin() + 1, axes.end(), is_aligned) && std::all_of(others.begin(), others.end(), is_aligned);
}

FromA reading_of_a(const Contraction& its) {
  const bool is_the_same =
      std::all_of(its.kept.begin(), its.kept.end(), [](const PairedAxis& axis) { return axis.a == 0; });
  if (!is_the_same && (its.kept[0].a != 0 || its.kept[0].size < 3)) return FromA::four_elements;
  if (!is_the_same && its.kept[0].size % 4 != 0) return FromA::two_elements;  // of the row that ends, and of the next
  return has_texels(its.summed, its.kept, &PairedAxis::a) ? FromA::texel_along_sum : FromA::one_element;
}

FromB reading_of_b(const Contraction& its, FromA from_a) {
  if (has_texels(its.kept, its.summed, &PairedAxis::b)) return FromB::texel_along_result;
  if (from_a >= FromA::one_element && has_texels(its.summed, its.kept, &PairedAxis::b)) return FromB::texels_along_sum;
  return FromB::four_elements;
}

Held as_pull(const Node& node) {
  const auto& its = std::get<Family>(node.operation);
  Family family{.entry = &matmul_pull,
                .options = its.options,
                .words = {its.words.begin(), its.words.begin() + 1 + 3 * (its.options[0] + its.options[1])}};
  return lowered(node, std::move(family));
}

// Adds what matmul_block takes, where a gives the rows of matrices, b the columns, and there are enough rows.
void use_blocks(std::string_view op, Family& family, const Contraction& its) {
  if (its.kept.size() < 2 || its.summed.size() != 1 || its.kept[0].a != 0 || its.kept[1].b != 0) return;
  const std::int64_t columns = its.kept[0].size, rows = its.kept[1].size;
  const std::int64_t batches = elements_along(op, std::span(its.kept).subspan(2));
  if (batches > 1 && rows * columns % 4 != 0) return;      // texels would belong to two matrices
  constexpr std::int64_t texels = 4, workgroup_size = 64;  // as in the shaders
  if (rows < texels) return;
  const std::int64_t rows_apart = columns % 4 == 0 ? 1 : 4, stride = rows_apart * columns / 4;
  const std::int64_t blocks = (rows + texels * rows_apart - 1) / (texels * rows_apart);
  family.entry = &matmul_block;
  family.words.insert(family.words.end(), {word_of(stride), word_of(blocks), word_of(blocks * batches)});
  family.workgroups = (blocks * batches * stride + workgroup_size - 1) / workgroup_size;
}

Tensor products(std::string_view op, const Tensor& a, const Tensor& b, const Shape& result, DType dtype,
                const Contraction& its) {
  const FromA from_a = reading_of_a(its);
  Family family{.entry = &matmul_pull,
                .options = {static_cast<std::int32_t>(its.kept.size()), static_cast<std::int32_t>(its.summed.size()),
                            static_cast<std::int32_t>(from_a), static_cast<std::int32_t>(reading_of_b(its, from_a))},
                .words = {word_of(elements_along(op, its.summed))}};
  for (const auto* axes : {&its.kept, &its.summed})
    for (const PairedAxis& axis : *axes)
      family.words.insert(family.words.end(), {word_of(axis.size), word_of(axis.a), word_of(axis.b)});
  use_blocks(op, family, its);
  return family_tensor(result, dtype, std::move(family), {a, b});
}

// An operand's elements in the order [kept..., summed...].
Tensor spread(const Tensor& x, const Shape& shape, const Contraction& its, std::int64_t PairedAxis::*distance) {
  std::vector<Term> terms;
  std::int64_t block = 1;
  for (const auto* axes : {&its.summed, &its.kept})
    for (const PairedAxis& axis : *axes) {
      if (axis.*distance != 0) terms.push_back({block, axis.size, axis.*distance});
      block *= axis.size;
    }
  return strided_tensor(x, shape, 0, std::move(terms));
}

// Where nothing is summed, or where every element is used once: pointwise work, and a reduction that shares out long
// sums.
Tensor sum_of_product(std::string_view op, const Tensor& a, const Tensor& b, const Shape& result, DType dtype,
                      const Contraction& its) {
  const Shape shape = result_shape(op, {result.size(), elements_along(op, its.summed)});
  const DType wide = is_float(dtype) ? DType::f32 : DType::i32;
  const Tensor product =
      spread(a, shape, its, &PairedAxis::a).cast(wide) * spread(b, shape, its, &PairedAxis::b).cast(wide);
  return sum(product, {.axes = {1}}).reshape(result).cast(dtype);
}

}  // namespace

DType product_dtype(std::string_view op, const Tensor& a, const Tensor& b) {
  const auto is_narrow = [](DType dtype) { return dtype == DType::i8 || dtype == DType::u8; };
  for (const Tensor* operand : {&a, &b})
    check_dtype(op, *operand, operand->dtype() != DType::boolean, "floats and integers");
  if (is_narrow(a.dtype()) && is_narrow(b.dtype())) return DType::i32;
  if (a.dtype() != b.dtype())
    fail(ErrorCode::dtype_mismatch, op,
         "the operands are " + std::string(to_string(a.dtype())) + " and " + std::string(to_string(b.dtype())) +
             "; cast one of them.");
  return a.dtype();
}

Tensor contract(std::string_view op, const Tensor& a, const Tensor& b, const Shape& result, DType dtype,
                Contraction its) {
  if (result.size() == 0 || elements_along(op, its.summed) == 0) return number_like(a.cast(dtype), result, 0);
  its.kept = joined(its.kept);
  its.summed = joined(its.summed);
  const auto is_of_one = [](const PairedAxis& axis) { return (axis.a == 0) != (axis.b == 0); };
  if (its.summed.empty() || std::none_of(its.kept.begin(), its.kept.end(), is_of_one))
    return sum_of_product(op, a, b, result, dtype, its);
  if (its.kept[0].b != 0) return products(op, a, b, result, dtype, its);
  // The kernels expect the result's last axis to be b's.
  swap_operands(its.kept);
  swap_operands(its.summed);
  return products(op, b, a, result, dtype, its);
}

}  // namespace tessera
