// The reduce family on the host; core/ops/reduce.cpp defines the words and options.
#include <cmath>

#include "backend_cpu/family.h"

namespace tessera::cpu {
namespace {

std::int64_t along(const FamilyRun& run, std::size_t first_word, int terms, std::int64_t index) {
  std::int64_t at = 0;
  for (int i = 0; i < terms; ++i, first_word += 3)
    at += index / run.word(first_word) % run.word(first_word + 1) * run.word(first_word + 2);
  return at;
}

// Calls take(output, index, value) for each element that is reduced to an output.
template <class Take>
void for_each_reduced(const FamilyRun& run, const Take& take) {
  const std::int64_t count = run.word(0), parts = run.word(1);
  const auto reduced_words = index_of(3 + 3 * run.options[0]);
  for (std::int64_t output = 0; output < static_cast<std::int64_t>(run.result.size()); ++output) {
    const std::int64_t base = along(run, 3, run.options[0], output / parts);
    for (std::int64_t index = output % parts; index < count; index += parts)
      take(index_of(output), index, run.operands[0][index_of(base + along(run, reduced_words, run.options[1], index))]);
  }
}

// Combines in double, which holds every f32 exactly.
template <class Combine>
void combine_floats(const FamilyRun& run, const Combine& combine) {
  std::vector<double> totals(run.result.size());
  for_each_reduced(run, [&](std::size_t output, std::int64_t index, Value value) {
    totals[output] = index < run.word(1) ? static_cast<double>(value.real)
                                         : combine(totals[output], static_cast<double>(value.real));
  });
  for (std::size_t i = 0; i < totals.size(); ++i) run.result[i].real = static_cast<float>(totals[i]);
}

template <class Combine>
void combine_integers(const FamilyRun& run, const Combine& combine) {
  for_each_reduced(run, [&](std::size_t output, std::int64_t index, Value value) {
    std::int32_t& total = run.result[output].whole;
    if (index < run.word(1)) total = value.whole;
    else total = static_cast<std::int32_t>(combine(std::int64_t{total}, std::int64_t{value.whole}));  // wraps
  });
}

enum class Fold { sum, product, largest, smallest };

void fold(const FamilyRun& run) {
  const auto combine = [&](const auto& combined) {
    if (is_float(run.dtype)) combine_floats(run, combined);
    else combine_integers(run, combined);
  };
  switch (static_cast<Fold>(run.options[3])) {
    case Fold::sum: return combine([](auto a, auto b) { return a + b; });
    case Fold::product: return combine([](auto a, auto b) { return a * b; });
    case Fold::largest: return combine([](auto a, auto b) { return b > a || b != b ? b : a; });
    case Fold::smallest: return combine([](auto a, auto b) { return b < a || b != b ? b : a; });
  }
}

// Elements that are means of parts themselves count for each element of their part.
void mean(const FamilyRun& run) {
  const std::int64_t count = run.word(0), all = run.word(2);
  std::vector<Mean> means(run.result.size());
  for_each_reduced(run, [&](std::size_t output, std::int64_t index, Value value) {
    means[output].add(static_cast<double>(value.real), static_cast<double>((all - 1 - index) / count + 1));
  });
  for (std::size_t i = 0; i < means.size(); ++i) run.result[i].real = static_cast<float>(means[i].value());
}

// Whether a is sought rather than b: it is larger, or smaller where that turns the bits.
bool is_better(const FamilyRun& run, Value a, Value b) {
  const bool seeks_smallest = run.words[2] != 0;
  if (!is_float(run.operand_dtypes[0])) return seeks_smallest ? a.whole < b.whole : a.whole > b.whole;
  if (std::isnan(a.real) || std::isnan(b.real)) return std::isnan(a.real) && !std::isnan(b.real);
  return seeks_smallest ? a.real < b.real : a.real > b.real;
}

void arg(const FamilyRun& run) {
  std::vector<Value> best(run.result.size());
  for_each_reduced(run, [&](std::size_t output, std::int64_t index, Value value) {
    if (index >= run.word(1) && !is_better(run, value, best[output])) return;
    best[output] = value;
    run.result[output].whole = static_cast<std::int32_t>(index);
  });
}

void arg_among(const FamilyRun& run) {
  const std::int64_t count = run.word(0), parts = run.word(1);
  const auto reduced_words = index_of(3 + 3 * run.options[0]);
  for (std::int64_t output = 0; output < static_cast<std::int64_t>(run.result.size()); ++output) {
    const std::int64_t base = along(run, 3, run.options[0], output / parts);
    const auto value_at = [&](std::int32_t index) {
      return run.operands[0][index_of(base + along(run, reduced_words, run.options[1], index))];
    };
    std::int32_t best = -1;
    for (std::int64_t candidate = output % parts; candidate < count; candidate += parts) {
      const std::int32_t index = run.operands[1][index_of(output / parts * count + candidate)].whole;
      const bool replaces = best < 0 || is_better(run, value_at(index), value_at(best)) ||
                            (index < best && !is_better(run, value_at(best), value_at(index)));
      if (replaces) best = index;
    }
    run.result[index_of(output)].whole = best;
  }
}

}  // namespace

std::span<const FamilyFunction> reduce_functions() {
  static constexpr FamilyFunction functions[] = {
      {"reduce_fold", fold}, {"reduce_mean", mean}, {"reduce_arg", arg}, {"reduce_arg_among", arg_among}};
  return functions;
}

}  // namespace tessera::cpu
