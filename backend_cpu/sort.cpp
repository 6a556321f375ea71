// The sort family on the host; core/kernel/sort_parameters.h has the parameters.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "backend_cpu/family.h"
#include "core/kernel/sort_parameters.h"

namespace tessera::cpu {
namespace {

constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();

std::int32_t key_of(Value value, DType dtype) {
  if (!is_float(dtype)) return value.whole;
  if (std::isnan(value.real)) return highest;
  const std::int32_t magnitude = std::bit_cast<std::int32_t>(std::fabs(value.real));
  return std::signbit(value.real) ? -magnitude : magnitude;
}

void keys(const FamilyRun& run) {
  const auto parameters = parameters_of<SortKeysParameters>(run);
  const std::int64_t count = parameters.count, stride = parameters.stride, inner = parameters.inner;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(run.result.size()); ++i) {
    const std::int64_t row = i / stride, along = i % stride;
    std::int32_t& key = run.result[index_of(i)].whole;
    key = highest;
    if (along >= count) continue;
    const Value value = run.operands[0][index_of((row / inner * count + along) * inner + row % inner)];
    key = key_of(value, run.operand_dtypes[0]) ^ parameters.turned_bits.bits;
  }
}

void ranks(const FamilyRun& run) {
  const auto parameters = parameters_of<SortRanksParameters>(run);
  const std::int64_t stride = parameters.stride, length = parameters.length;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(run.result.size()); ++i) {
    const std::int64_t row = i - i % stride, begin = row + i % stride / length * length,
                       end = std::min(begin + length, row + stride);
    std::int32_t rank = 0;
    for (std::int64_t other = begin; other < end; ++other) {
      const std::int32_t key = run.operands[0][index_of(i)].whole, other_key = run.operands[0][index_of(other)].whole;
      rank += other_key < key || (other_key == key && other < i);
    }
    run.result[index_of(i)].whole = rank;
  }
}

void blocks(const FamilyRun& run) {
  const auto parameters = parameters_of<SortBlocksParameters>(run);
  const std::int64_t stride = parameters.stride, kept = parameters.kept;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(run.operands[0].size()); ++i) {
    const std::int64_t row = i / stride, along = i % stride, rank = run.operands[0][index_of(i)].whole;
    if (rank >= kept) continue;
    Value* pair = &run.result[index_of(2 * ((row * parameters.blocks + along / parameters.length) * kept + rank))];
    pair[0] = run.operands[1][index_of(i)];
    pair[1].whole = static_cast<std::int32_t>(along);
  }
}

struct Pair {
  std::int32_t key, index;
};

void merge(const FamilyRun& run) {
  const auto parameters = parameters_of<SortMergeParameters>(run);
  const std::int64_t blocks_after = parameters.blocks_after, kept_after = parameters.kept_after;
  const auto pairs_of = [&](std::int64_t row, std::int64_t block) {
    const std::int64_t stride = parameters.stride, kept = parameters.kept;
    const std::int64_t begin = std::min(block * parameters.length, stride), size = std::min(kept, stride - begin);
    std::vector<Pair> pairs;
    for (std::int64_t i = 0; i < size; ++i) {
      const Value* pair = &run.operands[0][index_of(2 * ((row * parameters.blocks + block) * kept + i))];
      pairs.push_back({pair[0].whole, pair[1].whole});
    }
    return pairs;
  };
  for (std::int64_t block = 0; block < static_cast<std::int64_t>(run.result.size()) / (2 * kept_after); ++block) {
    const std::int64_t row = block / blocks_after, first = 2 * (block % blocks_after);
    const std::vector<Pair> left = pairs_of(row, first), right = pairs_of(row, first + 1);
    std::vector<Pair> merged;
    std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(merged),
               [](Pair a, Pair b) { return a.key < b.key; });
    merged.resize(index_of(kept_after));
    for (std::int64_t i = 0; i < kept_after; ++i) {
      run.result[index_of(2 * (block * kept_after + i))].whole = merged[index_of(i)].key;
      run.result[index_of(2 * (block * kept_after + i) + 1)].whole = merged[index_of(i)].index;
    }
  }
}

void take(const FamilyRun& run) {
  const auto parameters = parameters_of<SortTakeParameters>(run);
  const std::int64_t asked = parameters.wanted, inner = parameters.inner;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(run.result.size()); ++i) {
    const std::int64_t outer = i / (asked * inner), column = i % inner;
    const Value index =
        run.operands[1][index_of(2 * ((outer * inner + column) * parameters.kept + i / inner % asked) + 1)];
    run.result[index_of(i)] = run.operands[0][index_of((outer * parameters.count + index.whole) * inner + column)];
  }
}

}  // namespace

std::span<const FamilyFunction> sort_functions() {
  static constexpr FamilyFunction functions[] = {
      {"sort_keys", keys},        {"sort_ranks", ranks}, {"sort_blocks", blocks},
      {"sort_merge_runs", merge}, {"sort_take", take},
  };
  return functions;
}

}  // namespace tessera::cpu
