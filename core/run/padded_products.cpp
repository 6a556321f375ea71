#include "core/run/padded_products.h"

#include <algorithm>

#include "core/kernel/matmul_parameters.h"

namespace tessera {
namespace {

// A product of matrices: a gives the rows, and b the columns.
struct MatrixProduct {
  MatmulPullParameters parameters;
  MatmulOptions options;

  MatmulAxis& columns() { return parameters.axes[0]; }
  std::int64_t rows() const { return parameters.axes[1].size; }
  const MatmulAxis& summed() const { return parameters.axes.back(); }
  std::int64_t elements() const {
    std::int64_t count = 1;
    for (std::size_t i = 0; i + 1 < parameters.axes.size(); ++i) count *= parameters.axes[i].size;
    return count;
  }
  // Whether four terms of a sum that follow one another are a texel of an operand.
  bool has_texels_along_sum(std::size_t operand) const {
    const auto is_aligned = [&](const MatmulAxis& axis) { return axis.distances[operand] % 4 == 0; };
    return summed().distances[operand] == 1 && summed().size % 4 == 0 &&
           std::all_of(parameters.axes.begin(), parameters.axes.end() - 1, is_aligned);
  }
};

std::optional<MatrixProduct> matrix_product(const Step& step) {
  const KernelCore& core = step.kernel.core;
  const std::span<const std::uint32_t> words = std::span(step.words).subspan(1, static_cast<std::size_t>(core.words));
  MatrixProduct product;
  if (core.entry == "matmul_pull") {
    product.parameters = from_words<MatmulPullParameters>(words);
  } else if (core.entry == "matmul_block") {
    const auto block = from_words<MatmulBlockParameters>(words);
    product.parameters = {.count = block.count, .axes = block.axes};
  } else {
    return std::nullopt;
  }
  product.options = from_options<MatmulOptions>(core.options);
  const std::vector<MatmulAxis>& axes = product.parameters.axes;
  if (product.options.kept_axes < 2 || product.options.summed_axes != 1 || axes[0].distances[0] != 0 ||
      axes[1].distances[1] != 0)
    return std::nullopt;
  return product;
}

// With as many columns as make whole texels. What b has there instead makes results that nobody reads.
MatrixProduct padded(MatrixProduct product) {
  product.columns().size = (product.columns().size + 3) / 4 * 4;
  const bool has_texels_of_a = product.has_texels_along_sum(0), has_texels_of_b = product.has_texels_along_sum(1);
  product.options.from_a = static_cast<std::int64_t>(has_texels_of_a ? FromA::texel_along_sum : FromA::one_element);
  product.options.from_b = static_cast<std::int64_t>(has_texels_of_b ? FromB::texels_along_sum : FromB::four_elements);
  return product;
}

// The step's own kernel, with elements of the padded product in the place of its core.
Step without_padding(const Step& step, std::int64_t columns, const MatrixProduct& product, int storage) {
  const Kernel& before = step.kernel;
  const std::int64_t padded_columns = product.parameters.axes[0].size, lines = product.elements() / padded_columns;
  Step copy{.inputs = {storage}, .output = step.output, .numbers = step.numbers};
  Kernel& kernel = copy.kernel;
  kernel.inputs = {{.dtype = before.core.dtype, .access = Access::strided, .terms = 2}};
  kernel.numbers = before.numbers;
  kernel.expression = before.expression;
  copy.words = {step.words[0], 0};
  for (const std::int64_t word : {std::int64_t{1}, columns, std::int64_t{1}, columns, lines, padded_columns})
    copy.words.push_back(word_of(word));
  std::vector<std::uint16_t> places(before.inputs.size());  // of the inputs after the product
  for (std::size_t i = 0; i < before.inputs.size(); ++i) {
    if (before.inputs[i].operand != KernelInput::none) continue;
    places[i] = static_cast<std::uint16_t>(kernel.inputs.size());
    kernel.inputs.push_back(before.inputs[i]);
    if (kernel.inputs.back().access == Access::texels) kernel.inputs.back().access = Access::strided;
    copy.inputs.push_back(step.inputs[i]);
    const auto first = step.words.begin() + before.first_word_of_input(static_cast<int>(i));
    copy.words.insert(copy.words.end(), first, first + 1 + 3 * before.inputs[i].terms);
  }
  for (Expression::Line& line : kernel.expression.lines) {
    if (line.kind == Expression::Kind::input) line.index = places[line.index];
    else if (line.kind == Expression::Kind::core) line.kind = Expression::Kind::input, line.index = 0;
  }
  copy.words.insert(copy.words.end(), step.words.begin() + before.first_word_of_numbers(), step.words.end());
  kernel.make_key();
  return copy;
}

// The product itself, on the items that the step reads.
Step padded_core(const Step& step, Step core, const Family& family, std::int64_t elements, int storage) {
  for (std::size_t i = 0; i < core.inputs.size(); ++i)
    core.inputs[i] = step.inputs[step.kernel.operands[i].lines[0].index];
  core.output = storage;
  core.words[0] = word_of(elements);
  return with_family(core, family);
}

}  // namespace

std::vector<StepVariant> padded_products(const Step& step, const Limits& limits, int first_storage) {
  constexpr std::int64_t least_side = 8;
  const std::optional<MatrixProduct> product = matrix_product(step);
  const std::optional<Step> core = product ? core_alone(step) : std::nullopt;
  const std::int64_t columns = product ? std::int64_t{product->parameters.axes[0].size} : 0;
  if (!core || columns % 4 == 0 || columns < least_side || product->rows() < least_side) return {};
  const MatrixProduct wider = padded(*product);
  Family family{.entry = step.family};
  const std::vector<std::uint32_t> options = words_of(wider.options);
  family.options.assign(options.begin(), options.end());
  family.words = step.kernel.core.entry == "matmul_pull"
                     ? words_of(wider.parameters)
                     : words_of(MatmulBlockParameters{.count = wider.parameters.count, .axes = wider.parameters.axes});
  std::vector<StepVariant> variants;
  const DType dtype = step.kernel.core.dtype;
  for (const Family& other : family.entry->variants(family, {wider.elements(), dtype, limits.octets})) {
    // Others gain nothing by it.
    if (!other.entry->in_octets && other.entry->name != "matmul_tile") continue;
    variants.push_back({"padded " + variant_name(other),
                        {padded_core(step, *core, other, wider.elements(), first_storage),
                         without_padding(step, columns, wider, first_storage)},
                        {{dtype, wider.elements()}}});
  }
  return variants;
}

}  // namespace tessera
