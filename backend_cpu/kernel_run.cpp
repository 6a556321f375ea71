#include "backend_cpu/kernel_run.h"

#include <algorithm>
#include <bit>

#include "backend_cpu/family.h"

namespace tessera::cpu {
namespace {

// Enough elements for the loop over them to outweigh the choice of the operation.
constexpr std::int64_t elements_at_a_time = 256;
using Values = std::array<Value, elements_at_a_time>;

// Evaluates one expression of a kernel over all its elements, a block at a time.
class Evaluation {
 public:
  Evaluation(const Dispatch& dispatch, const Expression& expression, const std::vector<Value>* core)
      : dispatch_(dispatch),
        kernel_(*dispatch.kernel),
        expression_(expression),
        core_(core),
        values_(expression.lines.size()) {}

  // Calls take(first, values) for each block, `values` being those of its elements.
  template <class Take>
  void run(std::int64_t elements, const Take& take) {
    for (first_ = 0; first_ < elements; first_ += elements_at_a_time) {
      count_ = std::min(elements_at_a_time, elements - first_);
      for (std::size_t line = 0; line < values_.size(); ++line) evaluate(expression_.lines[line], values_[line]);
      take(first_, std::span(values_.back().data(), index_of(count_)));
    }
  }

 private:
  void evaluate(const Expression::Line& line, Values& out) {
    const Values& a = values_[line.operands[0]];
    const DType operand = expression_.lines[line.operands[0]].dtype;
    const auto count = index_of(count_);
    switch (line.kind) {
      case Expression::Kind::input: read_input(line.index, out); break;
      case Expression::Kind::number: {
        const std::uint32_t bits = dispatch_.words[index_of(kernel_.first_word_of_numbers() + line.index)];
        std::fill_n(out.begin(), count, std::bit_cast<Value>(bits));
        break;
      }
      case Expression::Kind::core:
        for (std::size_t i = 0, from = index_of(line.index * dispatch_.output_elements + first_); i < count; ++i)
          out[i] = narrowed((*core_)[from + i], line.dtype);
        break;
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
    for (std::size_t i = 0; i < index_of(count_); ++i) {
      Value value{};
      if (real) value.real = op.on_float(selects ? static_cast<float>(a[i].whole) : a[i].real, b[i].real, c[i].real);
      else value.whole = op.on_int(a[i].whole, b[i].whole, c[i].whole);
      if (real && line.dtype == DType::boolean) value = {.whole = value.real != 0};
      out[i] = narrowed(value, line.dtype);
    }
  }

  void read_input(std::size_t input, Values& out) {
    const KernelInput& kernel_input = kernel_.inputs[input];
    const std::byte* elements = static_cast<const HostStorage*>(dispatch_.inputs[input].storage)->elements.data();
    const std::uint32_t* words = &dispatch_.words[index_of(kernel_.first_word_of_input(static_cast<int>(input)))];
    for (std::int64_t i = 0; i < count_; ++i) {
      std::int64_t index = words[0];
      if (kernel_input.access == Access::dense) index += first_ + i;
      for (int term = 0; term < kernel_input.terms; ++term) {
        const std::uint32_t* triple = words + 1 + 3 * term;
        index += (first_ + i) / triple[0] % triple[1] * static_cast<std::int32_t>(triple[2]);
      }
      out[index_of(i)] = load(elements, kernel_input.dtype, index);
    }
  }

  const Dispatch& dispatch_;
  const Kernel& kernel_;
  const Expression& expression_;
  const std::vector<Value>* core_;
  std::vector<Values> values_;  // of each line
  std::int64_t first_ = 0, count_ = 0;
};

std::vector<Value> run_core(const Dispatch& dispatch) {
  const Kernel& kernel = *dispatch.kernel;
  std::vector<std::vector<Value>> operands;
  std::vector<DType> dtypes;
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    std::vector<Value>& values = operands.emplace_back();
    values.reserve(index_of(dispatch.operand_elements[i]));
    Evaluation(dispatch, kernel.operands[i], nullptr)
        .run(dispatch.operand_elements[i],
             [&](std::int64_t, std::span<const Value> part) { values.insert(values.end(), part.begin(), part.end()); });
    dtypes.push_back(kernel.operands[i].result());
  }
  const FamilyFunction* function = find_family_function(kernel.core.entry);
  if (!function)
    throw Error(ErrorCode::unsupported, std::string(kernel.core.entry) + ": the cpu backend has no such kernel.");
  std::vector<Value> result(index_of(dispatch.output_elements * kernel.core.values));
  const std::span<const std::uint32_t> words(dispatch.words);
  const auto run = [&](std::span<const std::vector<Value>> of_run, std::vector<Value>& result_of_run) {
    function->run({.core = kernel.core,
                   .operands = of_run,
                   .operand_dtypes = dtypes,
                   .options = kernel.core.options,
                   .words = words.subspan(1, index_of(kernel.core.words)),
                   .dtype = kernel.core.dtype,
                   .result = result_of_run});
  };
  if (kernel.core.siblings == 1 && kernel.core.values == 1) {
    run(operands, result);
    return result;
  }
  std::vector<Value> part(result.size() / operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    run(std::span(operands).subspan(i, 1), part);
    std::ranges::copy(part, result.begin() + static_cast<std::ptrdiff_t>(i * part.size()));
  }
  return result;
}

}  // namespace

void run_kernel(const Dispatch& dispatch) {
  const Kernel& kernel = *dispatch.kernel;
  std::vector<Value> core;
  if (kernel.has_core()) core = run_core(dispatch);
  std::byte* out = static_cast<HostStorage*>(dispatch.output)->elements.data();
  Evaluation(dispatch, kernel.expression, &core)
      .run(dispatch.output_elements, [&](std::int64_t first, std::span<const Value> part) {
        for (const Value value : part) store(out, dispatch.output_dtype, first++, value);
      });
}

}  // namespace tessera::cpu
