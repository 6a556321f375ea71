#include "core/ops/contraction.h"

#include <algorithm>
#include <optional>

#include "core/kernel/matmul_parameters.h"
#include "core/ops/octets.h"
#include <tessera/pointwise.h>
#include <tessera/reduce.h>

namespace tessera {
namespace {

std::vector<Family> product_variants(const Family&, const FamilyUse&);
std::optional<PaddedFamily> padded_product(const Family&, const FamilyUse&, int cores);
constexpr KernelEntry<MatmulPullParameters, MatmulOptions> matmul_pull{
    {.name = "matmul_pull", .file = "matmul", .variants = product_variants, .padded = padded_product}};

Held as_pull(const Node&);
constexpr KernelEntry<MatmulBlockParameters, MatmulOptions> matmul_block{{.name = "matmul_block",
                                                                          .file = "matmul",
                                                                          .is_cooperative = true,
                                                                          .lower = as_pull,
                                                                          .variants = product_variants,
                                                                          .padded = padded_product}};

Held as_pull(const Node& node) {
  const auto& family = std::get<Family>(node.operation);
  const auto block = from_words<MatmulBlockParameters>(family.words);
  return lowered(
      node, matmul_pull.with({.count = block.count, .axes = block.axes}, from_options<MatmulOptions>(family.options)));
}

Held as_block(const Node&);
Family product_for_cores(const Family&, const FamilyUse&, int cores);
constexpr KernelEntry<MatmulOctetParameters, MatmulOctetOptions> matmul_octets{{.name = "matmul_octets",
                                                                                .file = "matmul",
                                                                                .is_cooperative = true,
                                                                                .in_octets = true,
                                                                                .lower = as_block,
                                                                                .variants = product_variants,
                                                                                .for_cores = product_for_cores}};
constexpr KernelEntry<MatmulOctetParameters, MatmulDot4Options> matmul_dot4{
    {.name = "matmul_dot4", .file = "matmul_dot4", .is_cooperative = true, .in_octets = true, .lower = as_block}};

// These are variants only.
constexpr KernelEntry<MatmulPullParameters, MatmulSplitOptions> matmul_split{
    {.name = "matmul_split", .file = "matmul_split", .is_cooperative = true}};
constexpr KernelEntry<MatmulBlockParameters, MatmulSplitOptions> matmul_split_block{
    {.name = "matmul_split_block", .file = "matmul_split", .is_cooperative = true}};
constexpr KernelEntry<MatmulTileParameters, MatmulOptions> matmul_tile{
    {.name = "matmul_tile", .file = "matmul_tile", .is_cooperative = true}};

// Axes that stretch in one operand or the other may have more elements together than any tensor.
std::int64_t elements_along(std::string_view op, std::span<const PairedAxis> axes) {
  std::vector<std::int64_t> sizes;
  for (const PairedAxis& axis : axes) sizes.push_back(axis.size);
  return size_product(op, sizes);
}

// Leaves out axes of one element, and joins neighbours that both operands walk along without a jump.
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

FromA reading_of_a(const Contraction& contraction) {
  const bool is_the_same =
      std::all_of(contraction.kept.begin(), contraction.kept.end(), [](const PairedAxis& axis) { return axis.a == 0; });
  if (!is_the_same && (contraction.kept[0].a != 0 || contraction.kept[0].size < 3)) return FromA::four_elements;
  if (!is_the_same && contraction.kept[0].size % 4 != 0)
    return FromA::two_elements;  // one of the row that ends, one of the next
  return has_texels(contraction.summed, contraction.kept, &PairedAxis::a) ? FromA::texel_along_sum : FromA::one_element;
}

FromB reading_of_b(const Contraction& contraction, FromA from_a) {
  if (has_texels(contraction.kept, contraction.summed, &PairedAxis::b)) return FromB::texel_along_result;
  if (from_a >= FromA::one_element && has_texels(contraction.summed, contraction.kept, &PairedAxis::b))
    return FromB::texels_along_sum;
  return FromB::four_elements;
}

constexpr std::int64_t workgroup_size = 64;  // as in the shaders

struct Matrices {
  std::int64_t columns, rows, batches;
};

// Where a gives the rows of matrices and b the columns.
std::optional<Matrices> matrices_of(std::string_view op, const Contraction& contraction) {
  const std::vector<PairedAxis>& kept = contraction.kept;
  if (kept.size() < 2 || contraction.summed.size() != 1 || kept[0].a != 0 || kept[1].b != 0) return std::nullopt;
  return Matrices{kept[0].size, kept[1].size, elements_along(op, std::span(kept).subspan(2))};
}

Matrices matrices_of(std::span<const MatmulAxis> kept) {
  Matrices matrices{kept[0].size, kept[1].size, 1};
  for (const MatmulAxis& axis : kept.subspan(2)) matrices.batches *= axis.size;
  return matrices;
}

std::int64_t rounded_up(std::int64_t number, std::int64_t divisor) { return (number + divisor - 1) / divisor; }

constexpr std::int64_t rows_of_block = 4;

Family in_blocks(const Matrices& matrices, const MatmulPullParameters& parameters, const MatmulOptions& options) {
  const std::int64_t rows_apart = matrices.columns % 4 == 0 ? 1 : 4, stride = rows_apart * matrices.columns / 4;
  const std::int64_t height = rows_of_block * rows_apart;
  const std::int64_t blocks = (matrices.rows + height - 1) / height, all_blocks = blocks * matrices.batches;
  Family family = matmul_block.with({.count = parameters.count,
                                     .stride = stride,
                                     .blocks = blocks,
                                     .all_blocks = all_blocks,
                                     .axes = parameters.axes},
                                    options);
  family.workgroups = rounded_up(all_blocks * stride, workgroup_size);
  return family;
}

// Whether matrices have texels in common, which no block makes whole.
bool share_texels(const Matrices& matrices) {
  return matrices.batches > 1 && matrices.rows * matrices.columns % 4 != 0;
}

MatmulOctetParameters in_tiles_of_octets(const OctetTiles& tiles, const MatmulPullParameters& parameters) {
  return {.count = parameters.count,
          .lanes = tiles.lanes,
          .row_stripes = tiles.row_stripes,
          .column_stripes = tiles.column_stripes,
          .tiles = tiles.tiles,
          .axes = parameters.axes};
}

Family in_octets(const OctetTiles& tiles, const MatmulPullParameters& parameters, const MatmulOptions& options) {
  Family family = matmul_octets.with(in_tiles_of_octets(tiles, parameters), {.kept_axes = options.kept_axes,
                                                                             .summed_axes = options.summed_axes,
                                                                             .from_a = options.from_a,
                                                                             .from_b = options.from_b,
                                                                             .octets = tiles.octets});
  family.workgroups = tiles.tiles;
  return family;
}

bool is_byte(DType dtype) { return dtype == DType::i8 || dtype == DType::u8; }

// Of bytes, of which four along the sum are read as a word.
Family in_dot4(const OctetTiles& tiles, const MatmulPullParameters& parameters, const MatmulOptions& options,
               DType of_a, DType of_b) {
  Family family = matmul_dot4.with(in_tiles_of_octets(tiles, parameters), {.kept_axes = options.kept_axes,
                                                                           .summed_axes = options.summed_axes,
                                                                           .from_a = options.from_a,
                                                                           .from_b = options.from_b,
                                                                           .octets = tiles.octets,
                                                                           .unsigned_a = of_a == DType::u8,
                                                                           .unsigned_b = of_b == DType::u8});
  family.workgroups = tiles.tiles;
  return family;
}

// The kernel that suits the sizes best.
Family product_family(std::string_view op, const MatmulPullParameters& parameters, const MatmulOptions& options,
                      const Contraction& contraction, DType of_a, DType of_b) {
  const std::optional<Matrices> matrices = matrices_of(op, contraction);
  if (!matrices || matrices->rows < rows_of_block) return matmul_pull.with(parameters, options);
  if (matrices->columns % 4 == 0 && matrices->columns >= least_columns_in_octets) {
    const OctetTiles tiles = octet_tiles(matrices->rows, matrices->columns, matrices->batches);
    const bool by_words = options.from_a == static_cast<std::int64_t>(FromA::texel_along_sum) &&
                          options.from_b != static_cast<std::int64_t>(FromB::four_elements);
    return by_words && is_byte(of_a) && is_byte(of_b) ? in_dot4(tiles, parameters, options, of_a, of_b)
                                                      : in_octets(tiles, parameters, options);
  }
  return share_texels(*matrices) ? matmul_pull.with(parameters, options) : in_blocks(*matrices, parameters, options);
}

// A product as all of its families have it.
struct Product {
  MatmulPullParameters parameters;
  MatmulOptions options;

  std::span<const MatmulAxis> kept() const {
    return std::span(parameters.axes).first(static_cast<std::size_t>(std::int64_t{options.kept_axes}));
  }
  std::optional<Matrices> matrices() const {
    if (options.kept_axes < 2 || options.summed_axes != 1 || kept()[0].distances[0] != 0 || kept()[1].distances[1] != 0)
      return std::nullopt;
    return matrices_of(kept());
  }
};

template <class Options>
Product product_in_octets(const Family& family) {
  const auto parameters = from_words<MatmulOctetParameters>(family.words);
  const auto options = from_options<Options>(family.options);
  return {{.count = parameters.count, .axes = parameters.axes},
          {.kept_axes = options.kept_axes,
           .summed_axes = options.summed_axes,
           .from_a = options.from_a,
           .from_b = options.from_b}};
}

Product product_of(const Family& family) {
  if (family.entry == &matmul_octets) return product_in_octets<MatmulOctetOptions>(family);
  if (family.entry == &matmul_dot4) return product_in_octets<MatmulDot4Options>(family);
  const auto options = from_options<MatmulOptions>(family.options);
  if (family.entry == &matmul_pull) return {from_words<MatmulPullParameters>(family.words), options};
  const auto parameters = from_words<MatmulBlockParameters>(family.words);
  return {{.count = parameters.count, .axes = parameters.axes}, options};
}

Held as_block(const Node& node) {
  const Product product = product_of(std::get<Family>(node.operation));
  return lowered(node, in_blocks(matrices_of(product.kept()), product.parameters, product.options));
}

MatmulSplitOptions split_options(const MatmulOptions& options, std::int64_t shares) {
  return {.kept_axes = options.kept_axes,
          .summed_axes = options.summed_axes,
          .from_a = options.from_a,
          .from_b = options.from_b,
          .shares = shares};
}

Family in_tiles(const Matrices& matrices, const Product& product) {
  constexpr std::int64_t side = 32;  // of a tile, as in the shader
  const std::int64_t down = rounded_up(matrices.rows, side), across = rounded_up(matrices.columns, side);
  const std::int64_t tiles = down * across * matrices.batches;
  Family family = matmul_tile.with({.count = product.parameters.count,
                                    .row_tiles = down,
                                    .column_tiles = across,
                                    .tiles = tiles,
                                    .axes = product.parameters.axes},
                                   product.options);
  family.workgroups = tiles;
  return family;
}

// Long sums of few results, shared out among the invocations of workgroups.
void add_shared_out(std::vector<Family>& families, const Product& product, const std::optional<Matrices>& matrices,
                    std::int64_t texels) {
  constexpr std::int64_t least_terms = 64, most_texels = 4096;
  if (product.parameters.count < least_terms || texels > most_texels) return;
  for (const std::int64_t shares : {8, 32}) {
    if (product.parameters.count < 8 * shares) continue;
    Family family = matmul_split.with(product.parameters, split_options(product.options, shares));
    family.workgroups = rounded_up(texels, workgroup_size / shares);
    families.push_back(std::move(family));
    if (!matrices || matrices->rows < rows_of_block || share_texels(*matrices)) continue;
    const auto block =
        from_words<MatmulBlockParameters>(in_blocks(*matrices, product.parameters, product.options).words);
    Family in_block = matmul_split_block.with(block, split_options(product.options, shares));
    in_block.workgroups = rounded_up(block.all_blocks * block.stride, workgroup_size / shares);
    families.push_back(std::move(in_block));
  }
}

std::vector<Family> product_variants(const Family& family, const FamilyUse& use) {
  const Product product = product_of(family);
  const std::optional<Matrices> matrices = product.matrices();
  std::vector<Family> families;
  constexpr std::int64_t few_rows = 8;  // with more, reading b once for each row takes long
  if (matrices && matrices->rows >= rows_of_block) {
    if (matrices->columns % 4 == 0 && use.octets)
      for (const std::int64_t octets : {1, 2})
        families.push_back(in_octets(octet_tiles(octets, matrices->rows, matrices->columns, matrices->batches),
                                     product.parameters, product.options));
    if (matrices->columns % 4 == 0 && matrices->rows >= few_rows) families.push_back(in_tiles(*matrices, product));
    if (!share_texels(*matrices)) families.push_back(in_blocks(*matrices, product.parameters, product.options));
  }
  if (!matrices || matrices->rows < few_rows) families.push_back(matmul_pull.with(product.parameters, product.options));
  add_shared_out(families, product, matrices, rounded_up(use.elements, 4));
  return families;
}

// Whether four terms of a sum that follow one another are a texel of an operand.
bool has_texels_along_sum(const MatmulPullParameters& parameters, std::size_t operand) {
  const MatmulAxis& summed = parameters.axes.back();
  const auto is_aligned = [&](const MatmulAxis& axis) { return axis.distances[operand] % 4 == 0; };
  return summed.distances[operand] == 1 && summed.size % 4 == 0 &&
         std::all_of(parameters.axes.begin(), parameters.axes.end() - 1, is_aligned);
}

// With as many columns as make whole texels. What b has there instead makes results that nobody reads.
std::optional<PaddedFamily> padded_product(const Family& family, const FamilyUse& use, int cores) {
  constexpr std::int64_t least_side = 8;
  Product product = product_of(family);
  const std::optional<Matrices> matrices = product.matrices();
  if (!use.octets || !matrices || matrices->columns % 4 == 0 ||
      std::min(matrices->columns, matrices->rows) < least_side)
    return std::nullopt;
  const std::int64_t padded = (matrices->columns + 3) / 4 * 4;
  product.parameters.axes[0].size = padded;
  product.options.from_a = static_cast<std::int64_t>(
      has_texels_along_sum(product.parameters, 0) ? FromA::texel_along_sum : FromA::one_element);
  product.options.from_b = static_cast<std::int64_t>(
      has_texels_along_sum(product.parameters, 1) ? FromB::texels_along_sum : FromB::four_elements);
  const OctetTiles tiles = cores > 0 ? octet_tiles_for_cores(cores, matrices->rows, padded, matrices->batches)
                                     : octet_tiles(matrices->rows, padded, matrices->batches);
  return PaddedFamily{
      in_octets(tiles, product.parameters, product.options), matrices->columns, padded,
      padded >= least_columns_in_octets && use.elements * product.parameters.count >= least_products_to_pad};
}

Family product_for_cores(const Family& family, const FamilyUse&, int cores) {
  const Product product = product_of(family);
  const Matrices matrices = matrices_of(product.kept());
  return in_octets(octet_tiles_for_cores(cores, matrices.rows, matrices.columns, matrices.batches), product.parameters,
                   product.options);
}

Product product_of(std::string_view op, const Contraction& contraction) {
  MatmulPullParameters parameters{.count = elements_along(op, contraction.summed)};
  for (const auto* axes : {&contraction.kept, &contraction.summed})
    for (const PairedAxis& axis : *axes) parameters.axes.push_back({axis.size, {axis.a, axis.b}});
  const FromA from_a = reading_of_a(contraction);
  return {std::move(parameters),
          {.kept_axes = static_cast<std::int64_t>(contraction.kept.size()),
           .summed_axes = static_cast<std::int64_t>(contraction.summed.size()),
           .from_a = static_cast<std::int64_t>(from_a),
           .from_b = static_cast<std::int64_t>(reading_of_b(contraction, from_a))}};
}

Tensor products(std::string_view op, const Tensor& a, const Tensor& b, const Shape& result, DType dtype,
                const Contraction& contraction) {
  const Product product = product_of(op, contraction);
  return family_tensor(result, dtype,
                       product_family(op, product.parameters, product.options, contraction, a.dtype(), b.dtype()),
                       {a, b});
}

// An operand's elements in the order [kept..., summed...].
Tensor spread(const Tensor& x, const Shape& shape, const Contraction& contraction, std::int64_t PairedAxis::*distance) {
  std::vector<Term> terms;
  std::int64_t block = 1;
  for (const auto* axes : {&contraction.summed, &contraction.kept})
    for (const PairedAxis& axis : *axes) {
      if (axis.*distance != 0) terms.push_back({block, axis.size, axis.*distance});
      block *= axis.size;
    }
  return strided_tensor(x, shape, 0, std::move(terms));
}

// Pointwise work and a reduction, which shares out long sums: for sums over nothing, and where every element is used
// once.
Tensor sum_of_product(std::string_view op, const Tensor& a, const Tensor& b, const Shape& result, DType dtype,
                      const Contraction& contraction) {
  const Shape shape = result_shape(op, {result.size(), elements_along(op, contraction.summed)});
  const DType wide = is_float(dtype) ? DType::f32 : DType::i32;
  const Tensor product = spread(a, shape, contraction, &PairedAxis::a).cast(wide) *
                         spread(b, shape, contraction, &PairedAxis::b).cast(wide);
  return sum(product, {.axes = {1}}).reshape(result).cast(dtype);
}

}  // namespace

DType product_dtype(std::string_view op, const Tensor& a, const Tensor& b) {
  for (const Tensor* operand : {&a, &b})
    check_dtype(op, *operand, operand->dtype() != DType::boolean, "floats and integers");
  if (is_byte(a.dtype()) && is_byte(b.dtype())) return DType::i32;
  if (a.dtype() != b.dtype())
    fail(ErrorCode::dtype_mismatch, op,
         "the operands are " + std::string(to_string(a.dtype())) + " and " + std::string(to_string(b.dtype())) +
             "; cast one of them.");
  return a.dtype();
}

Tensor contract(std::string_view op, const Tensor& a, const Tensor& b, const Shape& result, DType dtype,
                Contraction contraction) {
  if (result.size() == 0 || elements_along(op, contraction.summed) == 0) return number_like(a.cast(dtype), result, 0);
  contraction.kept = joined(contraction.kept);
  contraction.summed = joined(contraction.summed);
  const auto is_of_one = [](const PairedAxis& axis) { return (axis.a == 0) != (axis.b == 0); };
  if (contraction.summed.empty() || std::none_of(contraction.kept.begin(), contraction.kept.end(), is_of_one))
    return sum_of_product(op, a, b, result, dtype, contraction);
  if (contraction.kept[0].b != 0) return products(op, a, b, result, dtype, contraction);
  // The kernels expect the result's last axis to be b's.
  swap_operands(contraction.kept);
  swap_operands(contraction.summed);
  return products(op, b, a, result, dtype, contraction);
}

std::vector<Family> contraction_families(Contraction contraction, const FamilyUse& use) {
  contraction.kept = joined(contraction.kept);
  contraction.summed = joined(contraction.summed);
  const Product product = product_of("matmul", contraction);
  const Family pull = matmul_pull.with(product.parameters, product.options);
  if (!use.workgroups) return {pull};
  std::vector<Family> families = product_variants(pull, use);
  const auto is_for_large = [](const Family& family) {
    return family.entry->in_octets || family.entry == &matmul_tile;
  };
  if (std::ranges::any_of(families, is_for_large))
    std::erase_if(families, [&](const Family& family) { return !is_for_large(family); });
  else families.resize(1);
  return families;
}

}  // namespace tessera
