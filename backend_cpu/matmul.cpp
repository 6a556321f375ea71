// Sums of products: see core/ops/contraction.cpp for the words and options.
#include "backend_cpu/family.h"

namespace tessera::cpu {
namespace {

enum Operand : std::size_t { a = 1, b = 2 };  // where an axis has the operand's distance

std::size_t distance_along(const FamilyRun& run, int first_axis, int axes, Operand operand, std::int64_t index) {
  std::int64_t distance = 0;
  for (int axis = first_axis; axis < first_axis + axes; ++axis) {
    const auto word = index_of(1 + 3 * axis);
    distance += index % run.word(word) * run.word(word + operand);
    index /= run.word(word);
  }
  return index_of(distance);
}

std::vector<std::size_t> steps(const FamilyRun& run, Operand operand) {
  std::vector<std::size_t> steps;
  for (std::int64_t k = 0; k < run.word(0); ++k)
    steps.push_back(distance_along(run, run.options[0], run.options[1], operand, k));
  return steps;
}

// Calls finish(output, total) with the total of multiply_add(total, a, b) over the products of each output. Several
// outputs at a time, since neighbours mostly read neighbours.
template <class Total, class MultiplyAdd, class Finish>
void for_each_sum(const FamilyRun& run, const MultiplyAdd& multiply_add, const Finish& finish) {
  constexpr std::size_t at_a_time = 8;
  const std::vector<std::size_t> a_steps = steps(run, a), b_steps = steps(run, b);
  for (std::size_t first = 0; first < run.result.size(); first += at_a_time) {
    const std::size_t count = std::min(at_a_time, run.result.size() - first);
    Total totals[at_a_time] = {};
    const Value* starts_a[at_a_time] = {};
    const Value* starts_b[at_a_time] = {};
    for (std::size_t i = 0; i < count; ++i) {
      const auto output = static_cast<std::int64_t>(first + i);
      starts_a[i] = run.operands[0].data() + distance_along(run, 0, run.options[0], a, output);
      starts_b[i] = run.operands[1].data() + distance_along(run, 0, run.options[0], b, output);
    }
    for (std::size_t k = 0; k < a_steps.size(); ++k)
      for (std::size_t i = 0; i < count; ++i)
        totals[i] = multiply_add(totals[i], starts_a[i][a_steps[k]], starts_b[i][b_steps[k]]);
    for (std::size_t i = 0; i < count; ++i) finish(run.result[first + i], totals[i]);
  }
}

void sum_products(const FamilyRun& run) {
  if (is_float(run.dtype))
    for_each_sum<double>(
        run,
        [](double total, Value x, Value y) {
          return total + static_cast<double>(x.real) * static_cast<double>(y.real);
        },
        [](Value& result, double total) { result.real = static_cast<float>(total); });
  else
    for_each_sum<std::uint32_t>(
        run,
        [](std::uint32_t total, Value x, Value y) {
          return total + static_cast<std::uint32_t>(x.whole) * static_cast<std::uint32_t>(y.whole);
        },
        [](Value& result, std::uint32_t total) { result.whole = static_cast<std::int32_t>(total); });
}

}  // namespace

std::span<const FamilyFunction> matmul_functions() {
  static constexpr FamilyFunction functions[] = {{"matmul_pull", sum_products}, {"matmul_block", sum_products}};
  return functions;
}

}  // namespace tessera::cpu
