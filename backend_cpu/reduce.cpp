// The reduce family on the host; core/reduce.cpp defines the words and options.
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
void for_each_element(const FamilyRun& run, const Take& take) {
  const std::int64_t count = run.word(0), parts = run.word(1);
  const auto reduced_words = static_cast<std::size_t>(3 + 3 * run.options[0]);
  for (std::int64_t output = 0; output < static_cast<std::int64_t>(run.result.size()); ++output) {
    const std::int64_t base = along(run, 3, run.options[0], output / parts);
    for (std::int64_t index = output % parts; index < count; index += parts)
      take(static_cast<std::size_t>(output), index,
           run.operands[0][static_cast<std::size_t>(base + along(run, reduced_words, run.options[1], index))]);
  }
}

// Combines in double, which holds every f32 and i32 exactly.
template <class Combine>
void combine_floats(const FamilyRun& run, const Combine& combine) {
  std::vector<double> totals(run.result.size());
  for_each_element(run, [&](std::size_t output, std::int64_t index, Value value) {
    totals[output] = index < run.word(1) ? static_cast<double>(value.real)
                                         : combine(totals[output], static_cast<double>(value.real));
  });
  for (std::size_t i = 0; i < totals.size(); ++i) run.result[i].real = static_cast<float>(totals[i]);
}

template <class Combine>
void combine_integers(const FamilyRun& run, const Combine& combine) {
  for_each_element(run, [&](std::size_t output, std::int64_t index, Value value) {
    std::int32_t& total = run.result[output].whole;
    total = index < run.word(1) ? value.whole : combine(total, value.whole);
  });
}

std::uint32_t bits(std::int32_t value) { return static_cast<std::uint32_t>(value); }

template <class Better>
void arg(const FamilyRun& run, const Better& better) {
  std::vector<Value> best(run.result.size());
  for_each_element(run, [&](std::size_t output, std::int64_t index, Value value) {
    if (index != 0 && !better(value, best[output])) return;
    best[output] = value;
    run.result[output].whole = static_cast<std::int32_t>(index);
  });
}

constexpr FamilyFunction functions[] = {
    {"reduce_sum", [](const FamilyRun& run) { combine_floats(run, [](double a, double b) { return a + b; }); }},
    {"reduce_prod", [](const FamilyRun& run) { combine_floats(run, [](double a, double b) { return a * b; }); }},
    {"reduce_max",
     [](const FamilyRun& run) {
       combine_floats(run, [](double a, double b) { return b > a || std::isnan(b) ? b : a; });
     }},
    {"reduce_min",
     [](const FamilyRun& run) {
       combine_floats(run, [](double a, double b) { return b < a || std::isnan(b) ? b : a; });
     }},
    {"reduce_sum_i32",
     [](const FamilyRun& run) {
       combine_integers(run,
                        [](std::int32_t a, std::int32_t b) { return static_cast<std::int32_t>(bits(a) + bits(b)); });
     }},
    {"reduce_prod_i32",
     [](const FamilyRun& run) {
       combine_integers(run,
                        [](std::int32_t a, std::int32_t b) { return static_cast<std::int32_t>(bits(a) * bits(b)); });
     }},
    {"reduce_max_i32",
     [](const FamilyRun& run) { combine_integers(run, [](std::int32_t a, std::int32_t b) { return b > a ? b : a; }); }},
    {"reduce_min_i32",
     [](const FamilyRun& run) { combine_integers(run, [](std::int32_t a, std::int32_t b) { return b < a ? b : a; }); }},
    {"reduce_argmax",
     [](const FamilyRun& run) {
       arg(run, [](Value a, Value b) { return a.real > b.real || (std::isnan(a.real) && !std::isnan(b.real)); });
     }},
    {"reduce_argmin",
     [](const FamilyRun& run) {
       arg(run, [](Value a, Value b) { return a.real < b.real || (std::isnan(a.real) && !std::isnan(b.real)); });
     }},
    {"reduce_argmax_i32", [](const FamilyRun& run) { arg(run, [](Value a, Value b) { return a.whole > b.whole; }); }},
    {"reduce_argmin_i32", [](const FamilyRun& run) { arg(run, [](Value a, Value b) { return a.whole < b.whole; }); }},
};

}  // namespace

std::span<const FamilyFunction> reduce_functions() { return functions; }

}  // namespace tessera::cpu
