#include "core/graph/operation.h"

#include <cstring>

namespace tessera {

std::vector<Number> HostValues::few_numbers(DType dtype) const {
  constexpr std::size_t most = 256;
  if (elements.size() > most * sizeof(Number) || (dtype != DType::f32 && dtype != DType::i32)) return {};
  std::vector<Number> numbers(elements.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), elements.data(), elements.size());
  return numbers;
}

void Strided::write(WorkText& text) const {
  text.number(offset);
  text.number(static_cast<std::int64_t>(terms.size()));
  for (const Term& term : terms)
    for (const std::int64_t value : {term.block, term.size, term.stride}) text.number(value);
}

void Family::write(WorkText& text) const {
  text.pointer(entry);
  text.list(options);
  text.list(words);
  text.number(workgroups);
}

std::string op_name(const Operation& operation) {
  return std::visit([](const auto& kind) { return kind.name(); }, operation);
}

Part part_of(const Operation& operation) {
  return std::visit([](const auto& kind) { return kind.part; }, operation);
}

bool is_cheap(const Operation& operation, std::size_t inputs) {
  return std::visit([&](const auto& kind) { return kind.is_cheap(inputs); }, operation);
}

bool has_comparable_work(const Operation& operation) {
  return std::holds_alternative<Pointwise>(operation) || std::holds_alternative<Cast>(operation) ||
         std::holds_alternative<Strided>(operation) || std::holds_alternative<Family>(operation);
}

bool is_same_work(const Operation& a, const Operation& b) {
  if (a.index() != b.index()) return false;
  if (const auto* op = std::get_if<Pointwise>(&a)) return op->op == std::get<Pointwise>(b).op;
  if (std::holds_alternative<Cast>(a)) return true;
  if (const auto* view = std::get_if<Strided>(&a))
    return view->offset == std::get<Strided>(b).offset && view->terms == std::get<Strided>(b).terms;
  const auto *family = std::get_if<Family>(&a), *other = std::get_if<Family>(&b);
  return family && family->entry == other->entry && family->workgroups == other->workgroups &&
         family->options == other->options && family->words == other->words;
}

void write(const Operation& operation, WorkText& text) {
  text.number(static_cast<std::int64_t>(operation.index()));
  std::visit([&](const auto& kind) { kind.write(text); }, operation);
}

}  // namespace tessera
