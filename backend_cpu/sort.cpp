// The sort family on the host; core/sort.cpp defines the words.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backend_cpu/family.h"

namespace tessera::cpu {
namespace {

constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();

std::size_t index_of(std::int64_t value) { return static_cast<std::size_t>(value); }

std::int32_t key_of(Value value, DType dtype) {
  if (!is_float(dtype)) return value.whole;
  if (std::isnan(value.real)) return highest;
  const std::int32_t magnitude = std::bit_cast<std::int32_t>(std::fabs(value.real));
  return std::signbit(value.real) ? -magnitude : magnitude;
}

void keys(const FamilyRun& run) {
  const std::int64_t count = run.word(0), stride = run.word(1), inner = run.word(2);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(run.result.size()); ++i) {
    const std::int64_t row = i / stride, along = i % stride;
    std::int32_t& key = run.result[index_of(i)].whole;
    key = highest;
    if (along >= count) continue;
    const Value value = run.operands[0][index_of((row / inner * count + along) * inner + row % inner)];
    key = key_of(value, run.operand_dtypes[0]) ^ static_cast<std::int32_t>(run.words[3]);
  }
}

void ranks(const FamilyRun& run) {
  const std::int64_t stride = run.word(0), block = run.word(1);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(run.result.size()); ++i) {
    const std::int64_t row = i - i % stride, begin = row + i % stride / block * block,
                       end = std::min(begin + block, row + stride);
    std::int32_t rank = 0;
    for (std::int64_t other = begin; other < end; ++other) {
      const std::int32_t key = run.operands[0][index_of(i)].whole, other_key = run.operands[0][index_of(other)].whole;
      rank += other_key < key || (other_key == key && other < i);
    }
    run.result[index_of(i)].whole = rank;
  }
}

void blocks(const FamilyRun& run) {
  const std::int64_t stride = run.word(0), length = run.word(1), blocks_a_row = run.word(2), kept = run.word(3);
  const auto ranks_given = static_cast<std::int64_t>(run.operands[0].size());
  for (std::int64_t i = 0; i < ranks_given; ++i) {
    const std::int64_t row = i / stride, along = i % stride, rank = run.operands[0][index_of(i)].whole;
    if (rank < kept)
      run.result[index_of((row * blocks_a_row + along / length) * kept + rank)].whole =
          static_cast<std::int32_t>(along);
  }
}

void merge(const FamilyRun& run) {
  const std::int64_t stride = run.word(0), length = run.word(1), blocks_before = run.word(2), kept = run.word(3);
  const std::int64_t blocks_after = run.word(4), kept_after = run.word(5);
  const auto pairs = static_cast<std::int64_t>(run.result.size()) / kept_after;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    const std::int64_t row = pair / blocks_after, block = 2 * (pair % blocks_after);
    const auto size = [&](std::int64_t its) { return std::min(kept, stride - std::min(its * length, stride)); };
    const auto left = run.operands[0].begin() + (row * blocks_before + block) * kept,
               right = left + (size(block + 1) ? kept : 0);
    std::vector<Value> merged;
    std::merge(
        left, left + size(block), right, right + size(block + 1), std::back_inserter(merged), [&](Value a, Value b) {
          const auto key = [&](Value index) { return run.operands[1][index_of(row * stride + index.whole)].whole; };
          return key(a) < key(b);
        });
    merged.resize(index_of(kept_after));
    std::copy(merged.begin(), merged.end(), run.result.begin() + pair * kept_after);
  }
}

void take(const FamilyRun& run) {
  const std::int64_t count = run.word(0), wanted = run.word(1), inner = run.word(2), kept = run.word(3);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(run.result.size()); ++i) {
    const std::int64_t outer = i / (wanted * inner), column = i % inner;
    const Value index = run.operands[1][index_of((outer * inner + column) * kept + i / inner % wanted)];
    run.result[index_of(i)] = run.operands[0][index_of((outer * count + index.whole) * inner + column)];
  }
}

constexpr FamilyFunction functions[] = {
    {"sort_keys", keys},   {"sort_keys_i32", keys}, {"sort_ranks", ranks},   {"sort_blocks", blocks},
    {"sort_merge", merge}, {"sort_take", take},     {"sort_take_i32", take},
};

}  // namespace

std::span<const FamilyFunction> sort_functions() { return functions; }

}  // namespace tessera::cpu
