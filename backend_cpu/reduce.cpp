// The reduce family on the host; core/kernel/reduce_parameters.h has the parameters and options.
#include <cmath>

#include "backend_cpu/family.h"
#include "core/kernel/reduce_parameters.h"

namespace tessera::cpu {
namespace {

std::int64_t along(std::span<const ReduceTerm> terms, std::int64_t index) {
  std::int64_t at = 0;
  for (const ReduceTerm& term : terms) at += index / term.block % term.size * term.stride;
  return at;
}

// The parameters of a run, and where x has the elements.
template <class Parameters, class Options>
struct Reduction : Parameters {
  explicit Reduction(const FamilyRun& run)
      : Parameters(parameters_of<Parameters>(run)), options(options_of<Options>(run)) {}

  // Gives, for an output, a function from an index along its stretch to a place in x.
  auto stretch_of(std::int64_t output) const {
    const std::span all_terms(Parameters::terms);
    const std::size_t bases = index_of(options.kept_terms);
    std::int64_t stretch = output / Parameters::parts;
    if constexpr (has_reading)
      if (is_across()) stretch = output % Parameters::kept;
    return [base = along(all_terms.first(bases), stretch), reduced = all_terms.subspan(bases)](std::int64_t index) {
      return index_of(base + along(reduced, index));
    };
  }

  std::int64_t part_of(std::int64_t output) const {
    if constexpr (has_reading)
      if (is_across()) return output / Parameters::kept;
    return output % Parameters::parts;
  }

  const Options options;

 private:
  static constexpr bool has_reading = requires(Options given) { given.reading; };
  bool is_across() const { return options.reading == static_cast<std::int64_t>(ReduceReading::texels_across); }
};
using FoldReduction = Reduction<ReduceFoldParameters, ReduceFoldOptions>;
using MeanReduction = Reduction<ReduceMeanParameters, ReduceMeanOptions>;
using ArgReduction = Reduction<ReduceArgParameters, ReduceArgOptions>;

// Calls take(output, index, value) for each element that is reduced to an output.
void for_each_reduced(const FamilyRun& run, const auto& reduction, const auto& take) {
  const std::int64_t parts = reduction.parts;
  for (std::int64_t output = 0; output < static_cast<std::int64_t>(run.result.size()); ++output) {
    const auto place = reduction.stretch_of(output);
    for (std::int64_t index = reduction.part_of(output); index < reduction.count; index += parts)
      take(index_of(output), index, run.operands[0][place(index)]);
  }
}

// Combines in double, which holds every f32 exactly.
template <class Combine>
void combine_floats(const FamilyRun& run, const FoldReduction& reduction, const Combine& combine) {
  std::vector<double> totals(run.result.size());
  for_each_reduced(run, reduction, [&](std::size_t output, std::int64_t index, Value value) {
    totals[output] = index < reduction.parts ? static_cast<double>(value.real)
                                             : combine(totals[output], static_cast<double>(value.real));
  });
  for (std::size_t i = 0; i < totals.size(); ++i) run.result[i].real = static_cast<float>(totals[i]);
}

template <class Combine>
void combine_integers(const FamilyRun& run, const FoldReduction& reduction, const Combine& combine) {
  for_each_reduced(run, reduction, [&](std::size_t output, std::int64_t index, Value value) {
    std::int32_t& total = run.result[output].whole;
    if (index < reduction.parts) total = value.whole;
    else total = static_cast<std::int32_t>(combine(std::int64_t{total}, std::int64_t{value.whole}));  // wraps
  });
}

void fold(const FamilyRun& run) {
  const FoldReduction reduction(run);
  const auto combine = [&](const auto& combined) {
    if (is_float(run.dtype)) combine_floats(run, reduction, combined);
    else combine_integers(run, reduction, combined);
  };
  switch (static_cast<Fold>(reduction.options.fold.bits)) {
    case Fold::sum: return combine([](auto a, auto b) { return a + b; });
    case Fold::product: return combine([](auto a, auto b) { return a * b; });
    case Fold::largest: return combine([](auto a, auto b) { return b > a || b != b ? b : a; });
    case Fold::smallest: return combine([](auto a, auto b) { return b < a || b != b ? b : a; });
  }
}

// Elements that are means of parts themselves count for each element of their part.
void mean(const FamilyRun& run) {
  const MeanReduction reduction(run);
  std::vector<Mean> means(run.result.size());
  for_each_reduced(run, reduction, [&](std::size_t output, std::int64_t index, Value value) {
    const std::int64_t weight = (reduction.all - 1 - index) / reduction.count + 1;
    means[output].add(static_cast<double>(value.real), static_cast<double>(weight));
  });
  for (std::size_t i = 0; i < means.size(); ++i) run.result[i].real = static_cast<float>(means[i].value());
}

// Whether a is sought rather than b: it is larger, or smaller where that turns the bits.
bool is_better(const FamilyRun& run, const ArgReduction& reduction, Value a, Value b) {
  const bool seeks_smallest = reduction.turned_bits != 0;
  if (!is_float(run.operand_dtypes[0])) return seeks_smallest ? a.whole < b.whole : a.whole > b.whole;
  if (std::isnan(a.real) || std::isnan(b.real)) return std::isnan(a.real) && !std::isnan(b.real);
  return seeks_smallest ? a.real < b.real : a.real > b.real;
}

void arg(const FamilyRun& run) {
  const ArgReduction reduction(run);
  std::vector<Value> best(run.result.size());
  for_each_reduced(run, reduction, [&](std::size_t output, std::int64_t index, Value value) {
    if (index >= reduction.parts && !is_better(run, reduction, value, best[output])) return;
    best[output] = value;
    run.result[output].whole = static_cast<std::int32_t>(index);
  });
}

void arg_among(const FamilyRun& run) {
  const ArgReduction reduction(run);
  const std::int64_t count = reduction.count, parts = reduction.parts;
  for (std::int64_t output = 0; output < static_cast<std::int64_t>(run.result.size()); ++output) {
    const auto place = reduction.stretch_of(output);
    const auto value_at = [&](std::int32_t index) { return run.operands[0][place(index)]; };
    std::int32_t best = -1;
    for (std::int64_t candidate = output % parts; candidate < count; candidate += parts) {
      const std::int32_t index = run.operands[1][index_of(output / parts * count + candidate)].whole;
      const bool replaces = best < 0 || is_better(run, reduction, value_at(index), value_at(best)) ||
                            (index < best && !is_better(run, reduction, value_at(best), value_at(index)));
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
