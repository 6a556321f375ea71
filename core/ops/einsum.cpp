#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "core/ops/contraction.h"
#include <tessera/matmul.h>
#include <tessera/reduce.h>

namespace tessera {
namespace {

// "ij,jk->ik" as {"ij", "jk"} and "ik". The axes of an ellipsis are digits, counted from its last axis, 0, on.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

[[noreturn]] void refuse(ErrorCode code, std::string_view equation, const std::string& why) {
  constexpr std::size_t most_shown = 200;
  const std::string shown(equation.substr(0, most_shown));
  fail(code, "einsum", "the equation \"" + shown + (equation.size() > most_shown ? "...\" " : "\" ") + why);
}

std::string named(char letter) {
  if (std::isdigit(static_cast<unsigned char>(letter)))
    return "axis -" + std::to_string(letter - '0' + 1) + " of the ellipsis";
  return "'" + std::string(1, letter) + "'";
}

constexpr std::string_view ellipsis = "...";

std::string letters_of_ellipsis(std::size_t axes) {
  std::string letters;
  while (axes > 0) letters += static_cast<char>('0' + --axes);
  return letters;
}

// The subscripts of one tensor, as the user wrote them.
struct Subscripts {
  std::string before, after;
  bool has_ellipsis;

  std::size_t letters() const { return before.size() + after.size(); }
  std::string with_ellipsis_of(std::size_t axes) const { return before + letters_of_ellipsis(axes) + after; }
};

Subscripts subscripts_of(std::string_view text, const std::string& part) {
  const std::size_t at = part.find(ellipsis);
  const bool has_ellipsis = at != std::string::npos;
  const Subscripts subscripts{part.substr(0, at), has_ellipsis ? part.substr(at + ellipsis.size()) : "", has_ellipsis};
  for (const char c : subscripts.before + subscripts.after)
    if (!std::isalpha(static_cast<unsigned char>(c)))
      refuse(ErrorCode::invalid_argument, text, "has a '" + std::string(1, c) + "' where a letter is expected.");
  return subscripts;
}

// The number of axes that the ellipsis of an operand stands for.
std::size_t axes_of_ellipsis(std::string_view text, const Subscripts& subscripts, const Tensor& operand) {
  const auto rank = static_cast<std::size_t>(operand.shape().rank());
  if (subscripts.letters() > rank || (!subscripts.has_ellipsis && subscripts.letters() < rank))
    refuse(ErrorCode::shape_mismatch, text,
           "has " + std::to_string(subscripts.letters()) + " letters for an operand " + operand.shape().to_string() +
               " of rank " + std::to_string(rank) + ".");
  return rank - subscripts.letters();
}

// The letters that occur once, in alphabetical order.
std::string implied_result(const std::vector<Subscripts>& operands) {
  std::string letters;
  for (const Subscripts& operand : operands) letters += operand.before + operand.after;
  std::sort(letters.begin(), letters.end());
  std::string once;
  for (const char letter : letters) {
    const auto [first, last] = std::equal_range(letters.begin(), letters.end(), letter);
    if (last - first == 1) once += letter;
  }
  return once;
}

void check_result(std::string_view text, const Equation& equation) {
  for (const char letter : equation.result) {
    if (std::count(equation.result.begin(), equation.result.end(), letter) > 1)
      refuse(ErrorCode::invalid_argument, text, "has " + named(letter) + " twice in its result.");
    if (std::none_of(equation.operands.begin(), equation.operands.end(),
                     [&](const std::string& operand) { return operand.find(letter) != std::string::npos; }))
      refuse(ErrorCode::invalid_argument, text, "has " + named(letter) + " in its result and in no operand.");
  }
}

Equation parsed(std::string_view text, std::span<const Tensor> operands) {
  std::string letters;
  for (const char c : text)
    if (c != ' ') letters += c;
  const std::size_t arrow = letters.find("->");
  const std::string left = letters.substr(0, arrow) + ",";
  if (const auto count = static_cast<std::size_t>(std::count(left.begin(), left.end(), ',')); count != operands.size())
    refuse(ErrorCode::invalid_argument, text,
           "is for " + std::to_string(count) + " operands; there are " + std::to_string(operands.size()) + ".");
  Equation equation;
  std::vector<Subscripts> parts;
  std::size_t longest = 0, begin = 0;
  for (const Tensor& operand : operands) {
    const std::size_t end = left.find(',', begin);
    parts.push_back(subscripts_of(text, left.substr(begin, end - begin)));
    begin = end + 1;
    const std::size_t axes = axes_of_ellipsis(text, parts.back(), operand);
    equation.operands.push_back(parts.back().with_ellipsis_of(axes));
    longest = std::max(longest, axes);
  }
  const bool is_implied = arrow == std::string::npos;
  const Subscripts result =
      is_implied ? Subscripts{"", implied_result(parts), true} : subscripts_of(text, letters.substr(arrow + 2));
  if (longest > 0 && !result.has_ellipsis)
    refuse(ErrorCode::invalid_argument, text, "has an ellipsis in an operand and none in its result.");
  equation.result = result.with_ellipsis_of(longest);
  check_result(text, equation);
  return equation;
}

// The axes of a tensor by their letters.
struct Labelled {
  Tensor tensor;
  std::string letters;

  bool has(char letter) const { return letters.find(letter) != std::string::npos; }

  // A letter that stands for several axes walks along all of them at once. A size of 1 stretches.
  std::int64_t size(char letter) const {
    std::int64_t size = 1;
    for (std::size_t axis = 0; axis < letters.size(); ++axis)
      if (letters[axis] == letter && tensor.shape()[static_cast<int>(axis)] != 1)
        size = tensor.shape()[static_cast<int>(axis)];
    return size;
  }
  std::int64_t distance(char letter) const {
    std::int64_t sum = 0, distance = 1;
    for (std::size_t axis = letters.size(); axis-- > 0;) {
      const std::int64_t axis_size = tensor.shape()[static_cast<int>(axis)];
      if (letters[axis] == letter && axis_size != 1) sum += distance;
      distance *= axis_size;
    }
    return sum;
  }
};

std::string all_letters(std::span<const Labelled> operands) {
  std::string letters;
  for (const Labelled& operand : operands)
    for (const char letter : operand.letters)
      if (letters.find(letter) == std::string::npos) letters += letter;
  return letters;
}

std::string shapes_of(std::span<const Labelled> operands) {
  std::string text = operands[0].tensor.shape().to_string();
  for (const Labelled& operand : operands.subspan(1)) text += " and " + operand.tensor.shape().to_string();
  return text;
}

// The size of a letter in all operands, which agree on it or have 1.
std::int64_t common_size(std::string_view text, std::span<const Labelled> operands, char letter) {
  std::int64_t size = 1;
  for (const Labelled& operand : operands)
    for (std::size_t axis = 0; axis < operand.letters.size(); ++axis) {
      const std::int64_t axis_size = operand.tensor.shape()[static_cast<int>(axis)];
      if (operand.letters[axis] != letter || axis_size == 1) continue;
      if (size != 1 && size != axis_size)
        refuse(ErrorCode::shape_mismatch, text,
               "gives " + named(letter) + " the sizes " + std::to_string(size) + " and " + std::to_string(axis_size) +
                   ", the operands being " + shapes_of(operands) + ".");
      size = axis_size;
    }
  return size;
}

// The operand with just these axes, in this order; the others are summed over.
Tensor rearranged(const Labelled& x, const std::string& kept) {
  std::string order = kept;
  std::vector<int> summed;
  for (const char letter : all_letters(std::span(&x, 1))) {
    if (kept.find(letter) != std::string::npos) continue;
    summed.push_back(static_cast<int>(order.size()));
    order += letter;
  }
  if (order == x.letters && summed.empty()) return x.tensor;
  std::vector<std::int64_t> dims;
  std::vector<Term> terms;
  for (const char letter : order) dims.push_back(x.size(letter));
  const Shape shape(dims);
  std::int64_t block = 1;
  for (std::size_t axis = order.size(); axis-- > 0; block *= dims[axis])
    if (dims[axis] != 1) terms.push_back({block, dims[axis], x.distance(order[axis])});
  const Tensor in_order =
      shape.size() == 0 ? number_like(x.tensor, shape, 0) : strided_tensor(x.tensor, shape, 0, std::move(terms));
  return summed.empty() ? in_order : sum(in_order, {.axes = summed});
}

// Whether neither the other operand nor the result has the letter, which is then summed before anything is multiplied.
bool is_own_sum(const Labelled& other, const std::string& result, char letter) {
  return !other.has(letter) && result.find(letter) == std::string::npos;
}

bool has_own_sums(const Labelled& x, const Labelled& other, const std::string& result) {
  return std::any_of(x.letters.begin(), x.letters.end(),
                     [&](char letter) { return is_own_sum(other, result, letter); });
}

Labelled without_own_sums(const Labelled& x, const Labelled& other, const std::string& result) {
  if (!has_own_sums(x, other, result)) return x;
  std::string kept;
  for (const char letter : x.letters)
    if (!is_own_sum(other, result, letter) && kept.find(letter) == std::string::npos) kept += letter;
  return {rearranged(x, kept), kept};
}

Tensor of_one(const Labelled& x, const std::string& result) {
  const bool sums = std::any_of(x.letters.begin(), x.letters.end(),
                                [&](char letter) { return result.find(letter) == std::string::npos; });
  check_dtype("einsum", x.tensor, !sums || x.tensor.dtype() != DType::boolean, "floats and integers");
  return rearranged(x, result);
}

Tensor of_two(std::string_view text, Labelled first, Labelled second, const std::string& result) {
  check_same_context("einsum", TensorAccess::info(first.tensor), TensorAccess::info(second.tensor));
  const DType dtype = product_dtype("einsum", first.tensor, second.tensor);
  if (has_own_sums(first, second, result) || has_own_sums(second, first, result)) {
    const DType wide = is_float(dtype) ? DType::f32 : DType::i32;
    for (Labelled* operand : {&first, &second}) operand->tensor = operand->tensor.cast(wide);
  }
  const Labelled operands[] = {without_own_sums(first, second, result), without_own_sums(second, first, result)};
  Contraction contraction;
  std::vector<std::int64_t> dims;
  const auto axis_of = [&](char letter) {
    return PairedAxis{common_size(text, operands, letter), operands[0].distance(letter), operands[1].distance(letter)};
  };
  for (const char letter : result) {
    contraction.kept.insert(contraction.kept.begin(), axis_of(letter));
    dims.push_back(contraction.kept.front().size);
  }
  for (const char letter : all_letters(operands))
    if (result.find(letter) == std::string::npos)
      contraction.summed.insert(contraction.summed.begin(), axis_of(letter));
  const Tensor &a = operands[0].tensor, &b = operands[1].tensor;
  return contract("einsum", a, b, result_shape("einsum", dims), product_dtype("einsum", a, b), std::move(contraction))
      .cast(dtype);
}

// Multiplies from left to right; a product keeps the letters that the result or a later operand names.
Tensor of_many(std::string_view text, std::vector<Labelled> operands, const std::string& result) {
  DType dtype = operands[0].tensor.dtype();
  for (std::size_t i = 1; i < operands.size(); ++i) {
    check_same_context("einsum", TensorAccess::info(operands[0].tensor), TensorAccess::info(operands[i].tensor));
    dtype = product_dtype("einsum", operands[0].tensor, operands[i].tensor);
  }
  for (Labelled& operand : operands) operand.tensor = operand.tensor.cast(is_float(dtype) ? DType::f32 : DType::i32);
  Labelled product = operands[0];
  for (std::size_t i = 1; i + 1 < operands.size(); ++i) {
    const std::string later = all_letters(std::span(operands).subspan(i + 1)) + result;
    std::string kept;
    for (const char letter : all_letters(std::array{product, operands[i]}))
      if (later.find(letter) != std::string::npos) kept += letter;
    product = {of_two(text, product, operands[i], kept), kept};
  }
  return of_two(text, product, operands.back(), result).cast(dtype);
}

}  // namespace

Tensor einsum(std::string_view text, std::span<const Tensor> operands) {
  const Equation equation = parsed(text, operands);
  std::vector<Labelled> labelled;
  for (std::size_t i = 0; i < operands.size(); ++i) labelled.push_back({operands[i], equation.operands[i]});
  for (const char letter : all_letters(labelled)) common_size(text, labelled, letter);
  if (labelled.size() == 1) return of_one(labelled[0], equation.result);
  if (labelled.size() == 2) return of_two(text, labelled[0], labelled[1], equation.result);
  return of_many(text, std::move(labelled), equation.result);
}

}  // namespace tessera
