// Attention on the host: scores, shares and means of one query after the other, in double.
#include "backend_cpu/family.h"
#include "core/kernel/attention_parameters.h"

namespace tessera::cpu {
namespace {

// Of a row of all matrices together; minus infinity for keys that it does not see.
std::vector<double> scores_of(const FamilyRun& run, const AttentionParameters& parameters,
                              const AttentionOptions& options, std::int64_t row) {
  constexpr double unseen = -std::numeric_limits<double>::infinity();
  const auto kind = static_cast<MaskKind>(options.mask_kind.bits);
  const std::int64_t size = 4 * parameters.depth, query = row % parameters.queries;
  const std::int64_t first_key = row / parameters.rows * parameters.keys;
  std::int64_t mask = 0;
  if (kind != MaskKind::none) {
    mask = query * parameters.mask[1].distance;
    std::int64_t rest = row / parameters.queries;
    for (const AttentionAxis& axis : std::span(parameters.mask).subspan(2)) {
      mask += rest % axis.size * axis.distance;
      rest /= axis.size;
    }
  }
  std::vector<double> scores;
  for (std::int64_t key = 0; key < parameters.keys; ++key) {
    double score = 0;
    for (std::int64_t i = 0; i < size; ++i)
      score += static_cast<double>(run.operands[0][index_of(row * size + i)].real) *
               static_cast<double>(run.operands[1][index_of((first_key + key) * size + i)].real);
    score *= static_cast<double>(parameters.scale);
    if (kind != MaskKind::none) {
      const Value value = run.operands[3][index_of(mask + key * parameters.mask[0].distance)];
      if (kind == MaskKind::added) score += static_cast<double>(value.real);
      else if (value.whole == 0) score = unseen;
    }
    scores.push_back(options.is_causal == 1 && key > query + parameters.past ? unseen : score);
  }
  return scores;
}

void attention(const FamilyRun& run) {
  const auto parameters = parameters_of<AttentionParameters>(run);
  const auto options = options_of<AttentionOptions>(run);
  const std::int64_t size = 4 * parameters.width;
  for (std::int64_t row = 0; row * size < static_cast<std::int64_t>(run.result.size()); ++row) {
    const std::vector<double> scores = scores_of(run, parameters, options, row);
    double largest = scores[0], total = 0;
    for (const double score : scores)
      if (score > largest || std::isnan(score)) largest = score;
    std::vector<double> sums(index_of(size));
    for (std::size_t key = 0; key < scores.size(); ++key) {
      const double share = std::exp(scores[key] - largest);
      total += share;
      const std::size_t first =
          index_of((row / parameters.rows * parameters.keys + static_cast<std::int64_t>(key)) * size);
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] += share * static_cast<double>(run.operands[2][first + i].real);
    }
    for (std::size_t i = 0; i < sums.size(); ++i)
      run.result[index_of(row * size) + i].real = static_cast<float>(sums[i] / total);
  }
}

}  // namespace

std::span<const FamilyFunction> attention_functions() {
  static constexpr FamilyFunction functions[] = {{"attention_by_texels", attention}};
  return functions;
}

}  // namespace tessera::cpu
