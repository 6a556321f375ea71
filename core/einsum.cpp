#include <algorithm>
#include <cctype>
#include <string>

#include "core/contraction.h"
#include <tessera/matmul.h>
#include <tessera/reduce.h>

namespace tessera {
namespace {

// "ij,jk->ik" as {"ij", "jk"} and "ik".
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

[[noreturn]] void refuse(ErrorCode code, std::string_view equation, const std::string& why) {
  fail(code, "einsum", "the equation \"" + std::string(equation) + "\" " + why);
}

// The letters that occur once, in alphabetical order.
std::string implied_result(const std::vector<std::string>& operands) {
  std::string all, once;
  for (const std::string& operand : operands) all += operand;
  std::sort(all.begin(), all.end());
  for (const char letter : all)
    if (std::count(all.begin(), all.end(), letter) == 1) once += letter;
  return once;
}

void check_result(std::string_view text, const Equation& equation) {
  for (const char letter : equation.result) {
    const std::string quoted = "'" + std::string(1, letter) + "'";
    if (std::count(equation.result.begin(), equation.result.end(), letter) > 1)
      refuse(ErrorCode::invalid_argument, text, "has " + quoted + " twice in its result.");
    if (std::none_of(equation.operands.begin(), equation.operands.end(),
                     [&](const std::string& operand) { return operand.find(letter) != std::string::npos; }))
      refuse(ErrorCode::invalid_argument, text, "has " + quoted + " in its result and in no operand.");
  }
}

Equation parsed(std::string_view text) {
  if (text.find("...") != std::string_view::npos)
    refuse(ErrorCode::unsupported, text, "has an ellipsis; name each axis by a letter.");
  std::string letters;
  for (const char c : text)
    if (c != ' ') letters += c;
  const std::size_t arrow = letters.find("->");
  Equation equation{.operands = {""}, .result = {}};
  for (const char c : letters.substr(0, arrow)) {
    if (c == ',') equation.operands.emplace_back();
    else equation.operands.back() += c;
  }
  equation.result = arrow == std::string::npos ? implied_result(equation.operands) : letters.substr(arrow + 2);
  std::string all = equation.result;
  for (const std::string& operand : equation.operands) all += operand;
  for (const char c : all)
    if (!std::isalpha(static_cast<unsigned char>(c)))
      refuse(ErrorCode::invalid_argument, text, "has a '" + std::string(1, c) + "' where a letter is expected.");
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
      const std::int64_t own = tensor.shape()[static_cast<int>(axis)];
      if (letters[axis] == letter && own != 1) sum += distance;
      distance *= own;
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

// The size of a letter in all operands: they agree, or are 1.
std::int64_t common_size(std::string_view text, std::span<const Labelled> operands, char letter) {
  std::int64_t size = 1;
  for (const Labelled& operand : operands)
    for (std::size_t axis = 0; axis < operand.letters.size(); ++axis) {
      const std::int64_t own = operand.tensor.shape()[static_cast<int>(axis)];
      if (operand.letters[axis] != letter || own == 1) continue;
      if (size != 1 && size != own)
        refuse(ErrorCode::shape_mismatch, text,
               "gives '" + std::string(1, letter) + "' the sizes " + std::to_string(size) + " and " +
                   std::to_string(own) + ", the operands being " + operands.front().tensor.shape().to_string() +
                   (operands.size() > 1 ? " and " + operands.back().tensor.shape().to_string() : "") + ".");
      size = own;
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

// Whether a letter is only in this operand: what the result lacks too is summed before anything is multiplied.
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
  check_same_context("einsum", *TensorAccess::node(first.tensor), *TensorAccess::node(second.tensor));
  const DType dtype = product_dtype("einsum", first.tensor, second.tensor);
  if (has_own_sums(first, second, result) || has_own_sums(second, first, result)) {
    const DType wide = is_float(dtype) ? DType::f32 : DType::i32;
    for (Labelled* operand : {&first, &second}) operand->tensor = operand->tensor.cast(wide);
  }
  const Labelled operands[] = {without_own_sums(first, second, result), without_own_sums(second, first, result)};
  Contraction its;
  std::vector<std::int64_t> dims;
  const auto axis_of = [&](char letter) {
    return PairedAxis{common_size(text, operands, letter), operands[0].distance(letter), operands[1].distance(letter)};
  };
  for (const char letter : result) {
    its.kept.insert(its.kept.begin(), axis_of(letter));
    dims.push_back(its.kept.front().size);
  }
  for (const char letter : all_letters(operands))
    if (result.find(letter) == std::string::npos) its.summed.insert(its.summed.begin(), axis_of(letter));
  const Tensor &a = operands[0].tensor, &b = operands[1].tensor;
  return contract(a, b, Shape(dims), product_dtype("einsum", a, b), std::move(its)).cast(dtype);
}

}  // namespace

Tensor einsum(std::string_view text, std::span<const Tensor> operands) {
  const Equation equation = parsed(text);
  if (equation.operands.size() != operands.size())
    refuse(ErrorCode::invalid_argument, text,
           "is for " + std::to_string(equation.operands.size()) + " operands; there are " +
               std::to_string(operands.size()) + ".");
  if (operands.size() > 2)
    refuse(ErrorCode::unsupported, text, "has " + std::to_string(operands.size()) + " operands; there can be 1 or 2.");
  std::vector<Labelled> labelled;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string& letters = equation.operands[i];
    if (operands[i].shape().rank() != static_cast<int>(letters.size()))
      refuse(ErrorCode::shape_mismatch, text,
             "has " + std::to_string(letters.size()) + " letters for an operand " + operands[i].shape().to_string() +
                 " of rank " + std::to_string(operands[i].shape().rank()) + ".");
    labelled.push_back({operands[i], letters});
  }
  for (const char letter : all_letters(labelled)) common_size(text, labelled, letter);
  return labelled.size() == 1 ? of_one(labelled[0], equation.result)
                              : of_two(text, labelled[0], labelled[1], equation.result);
}

}  // namespace tessera
