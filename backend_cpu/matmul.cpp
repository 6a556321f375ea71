// The matmul family on the host; core/kernel/matmul_parameters.h has the parameters and options.
#include "backend_cpu/family.h"
#include "core/kernel/matmul_parameters.h"

namespace tessera::cpu {
namespace {

// Where an operand, 0 or 1, has the element `index` of an odometer.
std::size_t distance_along(std::span<const MatmulAxis> axes, std::size_t operand, std::int64_t index) {
  std::int64_t distance = 0;
  for (const MatmulAxis& axis : axes) {
    distance += index % axis.size * axis.distances[operand];
    index /= axis.size;
  }
  return index_of(distance);
}

std::vector<std::size_t> steps(std::span<const MatmulAxis> axes, std::size_t operand, std::int64_t count) {
  std::vector<std::size_t> steps;
  for (std::int64_t k = 0; k < count; ++k) steps.push_back(distance_along(axes, operand, k));
  return steps;
}

// Calls finish(output, total) with the total of multiply_add(total, a, b) over the products of each output. Several
// outputs at a time, since neighbours mostly read neighbours.
template <class Parameters, class Total, class MultiplyAdd, class Finish>
void for_each_sum(const FamilyRun& run, const MultiplyAdd& multiply_add, const Finish& finish) {
  constexpr std::size_t at_a_time = 8;
  const auto parameters = parameters_of<Parameters>(run);
  const auto kept = std::span(parameters.axes).first(index_of(options_of<MatmulOptions>(run).kept_axes));
  const auto summed = std::span(parameters.axes).subspan(kept.size());
  const std::vector<std::size_t> a_steps = steps(summed, 0, parameters.count),
                                 b_steps = steps(summed, 1, parameters.count);
  for (std::size_t first = 0; first < run.result.size(); first += at_a_time) {
    const std::size_t count = std::min(at_a_time, run.result.size() - first);
    Total totals[at_a_time] = {};
    const Value* starts_a[at_a_time] = {};
    const Value* starts_b[at_a_time] = {};
    for (std::size_t i = 0; i < count; ++i) {
      const auto output = static_cast<std::int64_t>(first + i);
      starts_a[i] = run.operands[0].data() + distance_along(kept, 0, output);
      starts_b[i] = run.operands[1].data() + distance_along(kept, 1, output);
    }
    for (std::size_t k = 0; k < a_steps.size(); ++k)
      for (std::size_t i = 0; i < count; ++i)
        totals[i] = multiply_add(totals[i], starts_a[i][a_steps[k]], starts_b[i][b_steps[k]]);
    for (std::size_t i = 0; i < count; ++i) finish(run.result[first + i], totals[i]);
  }
}

template <class Parameters>
void sum_products(const FamilyRun& run) {
  if (is_float(run.dtype))
    for_each_sum<Parameters, double>(
        run,
        [](double total, Value x, Value y) {
          return total + static_cast<double>(x.real) * static_cast<double>(y.real);
        },
        [](Value& result, double total) { result.real = static_cast<float>(total); });
  else
    for_each_sum<Parameters, std::uint32_t>(
        run,
        [](std::uint32_t total, Value x, Value y) {
          return total + static_cast<std::uint32_t>(x.whole) * static_cast<std::uint32_t>(y.whole);
        },
        [](Value& result, std::uint32_t total) { result.whole = static_cast<std::int32_t>(total); });
}

void multiply_4bit(const FamilyRun& run) {
  const auto parameters = parameters_of<Matmul4BitParameters>(run);
  const std::int64_t columns = parameters.columns, group = 8 * parameters.octets, count = parameters.groups * group;
  for (std::size_t i = 0; i < run.result.size(); ++i) {
    const std::int64_t row = static_cast<std::int64_t>(i) / columns, column = static_cast<std::int64_t>(i) % columns;
    double total = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int32_t pair = run.operands[1][index_of((column * count + k) / 2)].whole;
      const std::size_t place = index_of(column * parameters.groups + k / group);
      const Value zero = run.operands[3][place];
      const double level = (k % 2 == 0 ? pair & 15 : pair >> 4) -
                           (is_float(run.operand_dtypes[3]) ? static_cast<double>(zero.real) : zero.whole);
      total += level * static_cast<double>(run.operands[2][place].real) *
               static_cast<double>(run.operands[0][index_of(row * count + k)].real);
    }
    run.result[i].real = static_cast<float>(total);
  }
}

}  // namespace

std::span<const FamilyFunction> matmul_functions() {
  static constexpr FamilyFunction functions[] = {{"matmul_pull", sum_products<MatmulPullParameters>},
                                                 {"matmul_block", sum_products<MatmulBlockParameters>},
                                                 {"matmul_4bit_texels", multiply_4bit},
                                                 {"matmul_4bit_rows", multiply_4bit}};
  return functions;
}

}  // namespace tessera::cpu
