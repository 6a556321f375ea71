#include "backend_cpu/map.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::cpu {
namespace {

// Enough elements for the loop over a line's elements to outweigh choosing what the line does.
constexpr std::int64_t block = 256;

// The values of one line over a block: floats, or integers for every other type.
union Value {
  float real;
  std::int32_t whole;
};
using Values = std::array<Value, block>;

Value load(const std::byte* elements, DType dtype, std::int64_t index) {
  const std::byte* at = elements + index * static_cast<std::int64_t>(size_of(dtype));
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof(T));
    return value;
  };
  switch (dtype) {
    case DType::f32: return {.real = as(float{})};
    case DType::f16: return {.real = as(half{})};
    case DType::i32: return {.whole = as(std::int32_t{})};
    case DType::i8: return {.whole = as(std::int8_t{})};
    case DType::u8:
    case DType::boolean: return {.whole = as(std::uint8_t{})};
  }
  return {};
}

void store(std::byte* elements, DType dtype, std::int64_t index, Value value) {
  std::byte* at = elements + index * static_cast<std::int64_t>(size_of(dtype));
  const auto put = [&](auto element) { std::memcpy(at, &element, sizeof(element)); };
  switch (dtype) {
    case DType::f32: return put(value.real);
    case DType::f16: return put(half(value.real));
    case DType::i32: return put(value.whole);
    case DType::i8: return put(static_cast<std::int8_t>(value.whole));
    case DType::u8:
    case DType::boolean: return put(static_cast<std::uint8_t>(value.whole));
  }
}

// Values keep to their type after every operation, as in the shaders.
Value narrowed(Value value, DType dtype) {
  switch (dtype) {
    case DType::f16: return {.real = half(value.real)};
    case DType::i8: return {.whole = static_cast<std::int8_t>(value.whole)};
    case DType::u8: return {.whole = static_cast<std::uint8_t>(value.whole)};
    default: return value;
  }
}

std::int32_t saturated(float value, std::int32_t low, std::int32_t high) {
  if (std::isnan(value)) return 0;
  if (value <= static_cast<float>(low)) return low;
  if (value >= static_cast<float>(high)) return high;
  return static_cast<std::int32_t>(value);
}

Value cast(Value value, DType from, DType to) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (to == DType::boolean) return {.whole = is_float(from) ? value.real != 0 : value.whole != 0};
  if (is_float(to)) return narrowed(is_float(from) ? value : Value{.real = static_cast<float>(value.whole)}, to);
  if (!is_float(from)) return narrowed(value, to);
  if (to == DType::i8) return {.whole = saturated(value.real, -128, 127)};
  if (to == DType::u8) return {.whole = saturated(value.real, 0, 255)};
  return {.whole = saturated(value.real, Limits::min(), Limits::max())};
}

class MapRun {
 public:
  explicit MapRun(const Dispatch& dispatch)
      : dispatch_(dispatch), kernel_(*dispatch.kernel), values_(kernel_.expression.lines.size()) {}

  void run() {
    std::byte* out = static_cast<HostStorage*>(dispatch_.output)->elements.data();
    for (first_ = 0; first_ < dispatch_.output_elements; first_ += block) {
      count_ = std::min(block, dispatch_.output_elements - first_);
      for (std::size_t line = 0; line < values_.size(); ++line) evaluate(kernel_.expression.lines[line], values_[line]);
      for (std::int64_t i = 0; i < count_; ++i)
        store(out, dispatch_.output_dtype, first_ + i, values_.back()[static_cast<std::size_t>(i)]);
    }
  }

 private:
  void evaluate(const Expression::Line& line, Values& out) {
    const Values& a = values_[line.operands[0]];
    const DType operand = kernel_.expression.lines[line.operands[0]].dtype;
    const auto count = static_cast<std::size_t>(count_);
    switch (line.kind) {
      case Expression::Kind::input: read_input(line.index, out); break;
      case Expression::Kind::number: {
        const std::uint32_t bits = dispatch_.words[static_cast<std::size_t>(kernel_.first_word_of_numbers() + line.index)];
        std::fill_n(out.begin(), count, std::bit_cast<Value>(bits));
        break;
      }
      case Expression::Kind::cast:
        for (std::size_t i = 0; i < count; ++i) out[i] = cast(a[i], operand, line.dtype);
        break;
      case Expression::Kind::op: apply(line, operand, out); break;
    }
  }

  void apply(const Expression::Line& line, DType operand, Values& out) {
    const Values &a = values_[line.operands[0]], &b = values_[line.operands[1]], &c = values_[line.operands[2]];
    const PointwiseOp& op = *line.op;
    const bool selects = op.takes == Takes::condition;
    const bool real = is_float(selects ? line.dtype : operand);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
      Value value{};
      if (real) value.real = op.on_float(selects ? static_cast<float>(a[i].whole) : a[i].real, b[i].real, c[i].real);
      else value.whole = op.on_int(a[i].whole, b[i].whole, c[i].whole);
      if (real && line.dtype == DType::boolean) value = {.whole = value.real != 0};
      out[i] = narrowed(value, line.dtype);
    }
  }

  void read_input(std::size_t input, Values& out) {
    const KernelInput& its = kernel_.inputs[input];
    const std::byte* elements = static_cast<const HostStorage*>(dispatch_.inputs[input].storage)->elements.data();
    const std::uint32_t* words = &dispatch_.words[static_cast<std::size_t>(kernel_.first_word_of_input(static_cast<int>(input)))];
    for (std::int64_t i = 0; i < count_; ++i) {
      std::int64_t index = words[0];
      if (its.access == Access::dense) index += first_ + i;
      for (int term = 0; term < its.terms; ++term) {
        const std::uint32_t* triple = words + 1 + 3 * term;
        index += (first_ + i) / triple[0] % triple[1] * triple[2];
      }
      out[static_cast<std::size_t>(i)] = load(elements, its.dtype, index);
    }
  }

  const Dispatch& dispatch_;
  const Kernel& kernel_;
  std::vector<Values> values_;  // of each line
  std::int64_t first_ = 0, count_ = 0;
};

}  // namespace

void run_map(const Dispatch& dispatch) { MapRun(dispatch).run(); }

}  // namespace tessera::cpu
