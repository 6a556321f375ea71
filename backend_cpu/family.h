// The cores of kernel families on the host: plain loops over whole operands.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "backend_cpu/values.h"
#include "core/kernel/kernel.h"
#include "core/kernel/parameters.h"

namespace tessera::cpu {

// One run of a core. parameters_of and options_of give the words and options of the entry's operation by name.
struct FamilyRun {
  const KernelCore& core;
  std::span<const std::vector<Value>> operands;  // their elements in order
  std::span<const DType> operand_dtypes;
  std::span<const std::int32_t> options;
  std::span<const std::uint32_t> words;
  DType dtype;                 // of the result
  std::vector<Value>& result;  // of the right size already
};

// Those of the run's entry, which must be of the type that it declares.
template <class Parameters>
Parameters parameters_of(const FamilyRun& run) {
  if (run.core.parameter_names != &ParameterList::of<Parameters>())
    throw std::logic_error(std::string(run.core.entry) + " has other parameters.");
  return from_words<Parameters>(run.words);
}
template <class Options>
Options options_of(const FamilyRun& run) {
  if (run.core.option_names != &ParameterList::of<Options>())
    throw std::logic_error(std::string(run.core.entry) + " has other options.");
  return from_options<Options>(run.options);
}

// A mean that keeps between the smallest and the largest number, as sums round.
struct Mean {
  double total = 0, weight = 0;
  double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;

  void add(double number, double number_weight = 1) {
    total += number * number_weight;
    weight += number_weight;
    smallest = std::min(smallest, number);
    largest = std::max(largest, number);
  }
  double value() const {
    const double mean = total / weight;
    return std::isfinite(mean) ? std::clamp(mean, smallest, largest) : mean;
  }
};

inline std::size_t index_of(std::int64_t value) { return static_cast<std::size_t>(value); }

struct FamilyFunction {
  std::string_view entry;  // the name of the FamilyEntry
  void (*run)(const FamilyRun&);
};

// For an entry whose loop differs between floats and integers.
template <void (*on_floats)(const FamilyRun&), void (*on_integers)(const FamilyRun&)>
void by_type(const FamilyRun& run) {
  if (is_float(run.dtype)) on_floats(run);
  else on_integers(run);
}

// The function of an entry; each family's file adds its own to the list in families.cpp.
const FamilyFunction* find_family_function(std::string_view entry);

}  // namespace tessera::cpu
