#include "core/kernel/kernel.h"

namespace tessera {
namespace {

void append_key(std::string& key, const Expression& expression) {
  for (const Expression::Line& line : expression.lines) {
    switch (line.kind) {
      case Expression::Kind::input: key += '#' + std::to_string(line.index); break;
      case Expression::Kind::number: key += '$' + std::to_string(line.index); break;
      case Expression::Kind::core: key += line.index ? '@' + std::to_string(line.index) : "@"; break;
      case Expression::Kind::cast: key += '(' + std::to_string(line.operands[0]) + ')'; break;
      case Expression::Kind::op:
        key += line.op->name;
        for (int i = 0; i < line.op->arity; ++i)
          key += (i ? ',' : '(') + std::to_string(line.operands[static_cast<std::size_t>(i)]);
        key += ')';
        break;
    }
    key += ':';
    key += to_string(line.dtype);
    key += ';';
  }
}

void append_ops(std::string& text, const Expression& expression) {
  const std::size_t before = text.size();
  for (const Expression::Line& line : expression.lines)
    if (line.kind == Expression::Kind::op || line.kind == Expression::Kind::cast) {
      if (text.size() > before) text += ' ';
      if (line.op) text += line.op->name;
      else text += "cast:" + std::string(to_string(line.dtype));
    }
}

std::string label_of(const Kernel& kernel) {
  std::string before, after;
  for (const Expression& operand : kernel.operands) {
    std::string ops;
    append_ops(ops, operand);
    if (!ops.empty()) before += (before.empty() ? "" : " | ") + ops;
  }
  append_ops(after, kernel.expression);
  if (!kernel.has_core()) return after.empty() ? "copy" : after;
  return before + (before.empty() ? "" : " > ") + std::string(kernel.core.entry) + (after.empty() ? "" : " > ") + after;
}

}  // namespace

void Kernel::make_key() {
  std::string text(core.entry);
  text += '*' + std::to_string(core.words);  // the inputs' words follow them
  for (const std::int32_t option : core.options) text += '/' + std::to_string(option);
  text += ' ';
  for (const KernelInput& input : inputs) {
    text += to_string(input.dtype);
    text += "dstxrle"[static_cast<std::size_t>(input.access)];
    if (input.terms > 0) text += std::to_string(input.terms);
    if (input.starts_with_elements) text += 'f';
    if (input.ends_with_all) text += 'l';
    if (input.has_long_blocks) text += 'b';
    if (input.operand != KernelInput::none) text += '<' + std::to_string(input.operand);
    text += ' ';
  }
  for (const Expression& operand : operands) {
    append_key(text, operand);
    text += "| ";
  }
  append_key(text, expression);
  text += layout.place;
  text += constants.key();
  key = std::move(text);
  label = label_of(*this);
}

TermCall call_of_term(const KernelInput& input, int term) {
  const bool is_last = input.ends_with_all && term == input.terms - 1;
  if (input.starts_with_elements && term == 0) return {is_last ? "only_term(" : "first_term(", 1};
  if (input.has_long_blocks) return {is_last ? "last_term_from(" : "term_from(", 0, true};
  return {is_last ? "last_term(" : "term(", 0};
}

int Kernel::first_word_of_input(int input) const {
  int word = first_word_of_layout() + layout.words;
  for (int i = 0; i < input; ++i) word += 1 + 3 * inputs[static_cast<std::size_t>(i)].terms;
  return word;
}

}  // namespace tessera
