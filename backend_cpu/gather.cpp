// The gather, scatter and concat families on the host; core/kernel/gather_parameters.h has the parameters and options.
// Elements move as they are, so that floats and integers share each function.
#include <algorithm>
#include <cstdlib>

#include "backend_cpu/family.h"
#include "core/kernel/gather_parameters.h"
#include <tessera/gather.h>

namespace tessera::cpu {
namespace {

std::int64_t elements_of(const FamilyRun& run) { return static_cast<std::int64_t>(run.result.size()); }

std::int64_t index_at(const FamilyRun& run, std::size_t operand, std::int64_t element) {
  return run.operands[operand][index_of(element)].whole;
}

// Calls place(element) for each element of the result, and copies the element of operand 0 that it gives.
template <class Place>
void copy_from(const FamilyRun& run, const Place& place) {
  for (std::int64_t i = 0; i < elements_of(run); ++i) run.result[index_of(i)] = run.operands[0][index_of(place(i))];
}

std::int64_t from_front(std::int64_t index, std::int64_t size) { return index < 0 ? index + size : index; }
std::int64_t nearest_inside(std::int64_t index, std::int64_t size) {
  return std::clamp<std::int64_t>(from_front(index, size), 0, size - 1);
}

void index_map(const FamilyRun& run) {
  const auto parameters = parameters_of<IndexMapParameters>(run);
  for (std::int64_t i = 0; i < elements_of(run); ++i) {
    std::int64_t value = parameters.offset;
    for (const IndexTerm& term : parameters.terms) value += i / term.block % term.size * term.stride;
    run.result[index_of(i)].whole = static_cast<std::int32_t>(value);
  }
}

void gather_axis(const FamilyRun& run) {
  const auto parameters = parameters_of<GatherAxisParameters>(run);
  copy_from(run, [&](std::int64_t i) {
    const std::int64_t row = i / parameters.trailing, index = index_at(run, 1, row % parameters.count);
    const std::int64_t place = row / parameters.count * parameters.size + nearest_inside(index, parameters.size);
    return place * parameters.trailing + i % parameters.trailing;
  });
}

void gather_nd(const FamilyRun& run) {
  const auto parameters = parameters_of<GatherNdParameters>(run);
  const auto depth = static_cast<std::int64_t>(parameters.axes.size());
  copy_from(run, [&](std::int64_t i) {
    std::int64_t place = i % parameters.trailing, index = i / parameters.trailing * depth;
    for (const IndexedAxis& axis : parameters.axes)
      place += nearest_inside(index_at(run, 1, index++), axis.size) * axis.stride;
    return place;
  });
}

void scatter_rows(const FamilyRun& run) {
  const std::vector<IndexedAxis> axes = parameters_of<ScatterRowsParameters>(run).axes;
  for (std::int64_t i = 0; i < elements_of(run); ++i) {
    std::int64_t row = 0, place = i * static_cast<std::int64_t>(axes.size());
    for (const IndexedAxis& axis : axes) {
      const std::int64_t index = from_front(index_at(run, 0, place++), axis.size);
      row = row < 0 || index < 0 || index >= axis.size ? -1 : row + index * axis.stride;
    }
    run.result[index_of(i)].whole = static_cast<std::int32_t>(row);
  }
}

// Calls take(result, update) for each element of the updates that has a place, in their order.
template <class Take>
void for_each_update(const FamilyRun& run, const Take& take) {
  const auto parameters = parameters_of<ScatterParameters>(run);
  const std::int64_t trailing = parameters.trailing;
  for (std::int64_t update = 0; update < parameters.updates; ++update) {
    const std::int64_t row = index_at(run, 0, update);
    if (row < 0) continue;
    for (std::int64_t i = 0; i < trailing; ++i)
      take(run.result[index_of(row * trailing + i)], run.operands[1][index_of(update * trailing + i)]);
  }
}

void scatter_sum_floats(const FamilyRun& run) {
  std::fill(run.result.begin(), run.result.end(), Value{.real = 0});
  for_each_update(run, [](Value& total, Value update) { total.real += update.real; });
}

void scatter_sum_integers(const FamilyRun& run) {
  std::fill(run.result.begin(), run.result.end(), Value{.whole = 0});
  for_each_update(run, [](Value& total, Value update) {
    total.whole =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(total.whole) + static_cast<std::uint32_t>(update.whole));
  });
}

void scatter_last(const FamilyRun& run) {
  run.result = run.operands[2];
  for_each_update(run, [](Value& element, Value update) { element = update; });
}

void pad(const FamilyRun& run) {
  const auto mode = static_cast<PadMode>(options_of<PadOptions>(run).mode.bits);
  const auto parameters = parameters_of<PadParameters>(run);
  const auto outside = std::bit_cast<Value>(parameters.value);
  for (std::int64_t i = 0; i < elements_of(run); ++i) {
    std::int64_t place = 0;
    bool inside = true;
    for (const PaddedAxis& axis : parameters.axes) {
      const std::int64_t last = axis.source_size - 1;
      std::int64_t at = i / axis.block % axis.size - axis.before;
      inside = inside && at >= 0 && at <= last;
      if (mode == PadMode::reflect) at = last - std::abs(last - std::abs(at));
      place += std::clamp<std::int64_t>(at, 0, last) * axis.stride;
    }
    const Value value = run.operands[0][index_of(place)];
    run.result[index_of(i)] = mode == PadMode::constant && !inside ? outside : value;
  }
}

void concat(const FamilyRun& run) {
  const auto parameters = parameters_of<ConcatParameters>(run);
  const std::int64_t rows = elements_of(run) / parameters.row_size;
  auto out = run.result.begin();
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::size_t operand = 0; operand < run.operands.size(); ++operand) {
      const std::int64_t size = parameters.pieces[operand].size;
      out = std::copy_n(run.operands[operand].begin() + row * size, size, out);
    }
}

}  // namespace

std::span<const FamilyFunction> gather_functions() {
  static constexpr FamilyFunction functions[] = {
      {"index_map", index_map},
      {"gather_axis", gather_axis},
      {"gather_nd", gather_nd},
      {"scatter_rows", scatter_rows},
      {"scatter_sum", by_type<scatter_sum_floats, scatter_sum_integers>},
      {"scatter_last", scatter_last},
      {"scatter_sum_in_turn", by_type<scatter_sum_floats, scatter_sum_integers>},
      {"scatter_last_in_turn", scatter_last},
      {"pad", pad},
      {"concat_2", concat},
      {"concat_3", concat},
      {"concat_4", concat},
      {"concat_5", concat},
      {"concat_6", concat},
      {"concat_7", concat},
  };
  return functions;
}

}  // namespace tessera::cpu
