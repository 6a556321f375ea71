// The row family on the host; core/kernel/row_parameters.h has the parameters and options.
#include <algorithm>
#include <cmath>

#include "backend_cpu/family.h"
#include "core/kernel/row_parameters.h"

namespace tessera::cpu {
namespace {

// Statistics as NumPy would compute them, in double.
void normalize(RowKind kind, float epsilon, std::vector<double>& row) {
  const auto count = static_cast<double>(row.size());
  if (kind == RowKind::softmax || kind == RowKind::log_softmax) {
    double largest = row[0], total = 0;
    for (const double x : row)
      if (x > largest || std::isnan(x)) largest = x;
    for (const double x : row) total += std::exp(x - largest);
    for (double& x : row) x = kind == RowKind::softmax ? std::exp(x - largest) / total : x - largest - std::log(total);
    return;
  }
  double total = 0, squares = 0;
  if (kind == RowKind::layer_norm)
    for (const double x : row) total += x;
  const double mean = total / count;
  for (const double x : row) squares += (x - mean) * (x - mean);
  for (double& x : row) x = (x - mean) / std::sqrt(squares / count + static_cast<double>(epsilon));
}

void row_normalize(const FamilyRun& run) {
  const auto parameters = parameters_of<RowParameters>(run);
  const auto kind = static_cast<RowKind>(options_of<RowOptions>(run).kind.bits);
  const std::int64_t count = parameters.count, inner = parameters.inner;
  const auto total = static_cast<std::int64_t>(run.result.size());
  std::vector<double> row(index_of(count));
  for (std::int64_t block = 0; block < total; block += count * inner) {
    for (std::int64_t first = block; first < block + inner; ++first) {
      const auto at = [&](std::size_t i) { return index_of(first + static_cast<std::int64_t>(i) * inner); };
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<double>(run.operands[0][at(i)].real);
      normalize(kind, parameters.epsilon, row);
      for (std::size_t i = 0; i < row.size(); ++i) run.result[at(i)].real = static_cast<float>(row[i]);
    }
  }
}

void row_lrn(const FamilyRun& run) {
  const auto parameters = parameters_of<LrnParameters>(run);
  const std::int64_t channels = parameters.channels, radius = parameters.radius;
  for (std::size_t i = 0; i < run.result.size(); ++i) {
    const std::int64_t channel = static_cast<std::int64_t>(i) % channels;
    const std::size_t pixel = i - index_of(channel);
    double squares = 0;
    for (std::int64_t c = std::max<std::int64_t>(channel - radius, 0); c <= std::min(channel + radius, channels - 1);
         ++c)
      squares += std::pow(static_cast<double>(run.operands[0][pixel + index_of(c)].real), 2);
    const double base = static_cast<double>(parameters.bias) + static_cast<double>(parameters.alpha) * squares;
    run.result[i].real = static_cast<float>(static_cast<double>(run.operands[0][i].real) /
                                            std::pow(base, static_cast<double>(parameters.beta)));
  }
}

}  // namespace

std::span<const FamilyFunction> row_functions() {
  static constexpr FamilyFunction functions[] = {{"row_normalize", row_normalize}, {"row_lrn", row_lrn}};
  return functions;
}

}  // namespace tessera::cpu
