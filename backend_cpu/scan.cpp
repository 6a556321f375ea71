// The scan family on the host; core/kernel/scan_parameters.h has the parameters and options.
#include "backend_cpu/family.h"
#include "core/kernel/scan_parameters.h"

namespace tessera::cpu {
namespace {

bool is_product(const FamilyRun& run) { return options_of<ScanOptions>(run).is_product == 1; }

template <class Total>
Total combined(bool multiplies, Total a, Total b) {
  return multiplies ? a * b : a + b;
}

void get(Value value, double& out) { out = static_cast<double>(value.real); }
void get(Value value, std::uint32_t& out) { out = static_cast<std::uint32_t>(value.whole); }
void put(double value, Value& out) { out.real = static_cast<float>(value); }
void put(std::uint32_t value, Value& out) { out.whole = static_cast<std::int32_t>(value); }

// Calls take(block, element, before, with) for each position of each block in the direction of the scan: the index of
// the block's total, that of the element, and the totals up to the element, without and with it.
template <class Total, class Take>
void for_each_position(const FamilyRun& run, const Take& take) {
  const auto parameters = parameters_of<ScanParameters>(run);
  const bool multiplies = is_product(run);
  const std::int64_t count = parameters.count, inner = parameters.inner, length = parameters.block_length;
  const auto rows = static_cast<std::int64_t>(run.operands[0].size()) / count;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t outer = row / inner, column = row % inner;
    Total before{}, with{};
    for (std::int64_t position = 0; position < count; ++position) {
      const std::int64_t along = parameters.is_reverse == 1 ? count - 1 - position : position;
      const std::size_t element = index_of((outer * count + along) * inner + column);
      before = position % length == 0 ? static_cast<Total>(multiplies) : with;
      Total value{};
      get(run.operands[0][element], value);
      with = combined(multiplies, before, value);
      take(index_of((outer * parameters.blocks + position / length) * inner + column), element, before, with);
    }
  }
}

template <class Total>
void scan(const FamilyRun& run) {
  const bool multiplies = is_product(run), is_exclusive = parameters_of<ScanParameters>(run).is_exclusive == 1;
  for_each_position<Total>(run, [&](std::size_t block, std::size_t element, Total before, Total with) {
    Total value = is_exclusive ? before : with;
    if (run.operands.size() == 2) {
      Total before_block{};
      get(run.operands[1][block], before_block);
      value = combined(multiplies, before_block, value);
    }
    put(value, run.result[element]);
  });
}

template <class Total>
void totals(const FamilyRun& run) {
  for_each_position<Total>(run,
                           [&](std::size_t block, std::size_t, Total, Total with) { put(with, run.result[block]); });
}

}  // namespace

std::span<const FamilyFunction> scan_functions() {
  static constexpr FamilyFunction functions[] = {
      {"scan_run", by_type<scan<double>, scan<std::uint32_t>>},
      {"scan_after", by_type<scan<double>, scan<std::uint32_t>>},
      {"scan_totals", by_type<totals<double>, totals<std::uint32_t>>},
  };
  return functions;
}

}  // namespace tessera::cpu
