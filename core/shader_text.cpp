#include "core/shader_text.h"

#include <set>

#include "core/opaque.h"

namespace tessera {
namespace {

// Calls visit(text, is_name) for each name of `code` and for each stretch between names.
template <class Visit>
void for_each_name(std::string_view code, const Visit& visit) {
  for (std::size_t at = 0; at < code.size();) {
    const bool is_name = is_name_character(code[at]);
    std::size_t end = at;
    while (end < code.size() && is_name_character(code[end]) == is_name) ++end;
    visit(code.substr(at, end - at), is_name);
    at = end;
  }
}

std::vector<std::string_view> blocks_of(std::string_view library) {
  std::vector<std::string_view> blocks;
  while (!library.empty()) {
    const std::size_t end = library.find("\n\n");
    blocks.push_back(library.substr(0, end));
    if (end == std::string_view::npos) break;
    library.remove_prefix(end + 2);
  }
  return blocks;
}

// The function that a block defines: the name before its first parenthesis outside of comments.
std::string_view name_of(std::string_view block) {
  while (block.starts_with("//")) block.remove_prefix(std::min(block.size(), block.find('\n') + 1));
  const std::size_t end = std::min(block.size(), block.find('('));
  std::size_t begin = end;
  while (begin > 0 && is_name_character(block[begin - 1])) --begin;
  return block.substr(begin, end - begin);
}

std::string variable(std::size_t line) { return "v" + std::to_string(line); }

// Operand a of line 5, as that line alone sees it.
std::string opaque_operand(std::size_t line, std::size_t operand) { return variable(line) + "abc"[operand]; }

std::string with_operands(std::string_view code, const Expression::Line& line, std::size_t index,
                          const OpaqueValues& opaque) {
  std::string text;
  for_each_name(code, [&](std::string_view part, bool is_name) {
    if (is_name && part.size() == 1 && part[0] >= 'a' && part[0] <= 'c') {
      const auto operand = static_cast<std::size_t>(part[0] - 'a');
      text += opaque.operands[operand] ? opaque_operand(index, operand) : variable(line.operands[operand]);
    } else {
      text += part;
    }
  });
  return text;
}

// Values keep to their type after every operation, so that fused and unfused chains agree.
std::string narrowed(std::string text, DType dtype) {
  if (dtype == DType::f16) return "round_f16(" + text + ")";
  if (dtype == DType::i8) return "wrap_i8(" + text + ")";
  if (dtype == DType::u8) return "wrap_u8(" + text + ")";
  return text;
}

std::string cast_text(const std::string& value, DType from, DType to) {
  if (to == DType::boolean)
    // A float by its bits: compilers make a comparison of x - y with 0 one of x with y.
    return "vec4i(nei(" + (is_float(from) ? "bits_of(" + value + ") & vec4i(0x7fffffff)" : value) + ", vec4i(0)))";
  if (is_float(to)) return narrowed(is_float(from) ? value : "vec4f(" + value + ")", to);
  if (!is_float(from)) return narrowed(value, to);
  const std::string whole = "float_to_i32(" + value + ")";
  if (to == DType::i8) return "clamp(" + whole + ", vec4i(-128), vec4i(127))";
  if (to == DType::u8) return "clamp(" + whole + ", vec4i(0), vec4i(255))";
  return whole;
}

}  // namespace

std::string fill_template(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& parts) {
  std::string filled;
  while (!text.empty()) {
    const std::size_t end = std::min(text.size(), text.find('\n'));
    const std::string_view line = text.substr(0, end);
    const std::size_t marker = line.find("//@");
    bool replaced = false;
    for (const auto& [name, part] : parts) {
      if (marker == std::string_view::npos || line.substr(marker + 3) != name) continue;
      filled += part;
      replaced = true;
    }
    if (!replaced) filled.append(line).append("\n");
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return filled;
}

std::string used_functions(std::string_view library, std::string_view code) {
  const std::vector<std::string_view> blocks = blocks_of(library);
  std::vector<bool> used(blocks.size(), false);
  std::vector<std::string_view> to_search{code};
  while (!to_search.empty()) {
    std::set<std::string_view> names;
    bool is_member = false;
    for_each_name(to_search.back(), [&](std::string_view part, bool is_name) {
      if (is_name && !is_member) names.insert(part);
      is_member = !is_name && part.ends_with('.');
    });
    to_search.pop_back();
    for (std::size_t i = 1; i < blocks.size(); ++i) {
      if (used[i] || !names.contains(name_of(blocks[i]))) continue;
      used[i] = true;
      to_search.push_back(blocks[i]);
    }
  }
  std::string text;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (i == 0 || used[i]) text.append(blocks[i]).append("\n");
  return text;
}

std::string expression_text(const Kernel& kernel, const Expression& expression, const Spelling& spelling,
                            std::string_view index) {
  std::string text;
  const auto& lines = expression.lines;
  const std::vector<OpaqueValues> opaque = opaque_values(expression);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Expression::Line& line = lines[i];
    const DType operand = lines[line.operands[0]].dtype;
    std::string value;
    switch (line.kind) {
      case Expression::Kind::input:
        value = "input_" + std::to_string(line.index) + "(" + std::string(index) + ")";
        break;
      case Expression::Kind::core: value = narrowed("core_value", line.dtype); break;
      case Expression::Kind::number: {
        // Four words are read at once: each read of a parameter costs a check of its place on some drivers.
        const int word = kernel.first_word_of_numbers() + line.index;
        const std::string place = "_of_words(" + std::to_string(word / 4) + ")." + "xyzw"[word % 4] + ")";
        value = (is_float(line.dtype) ? "vec4f(floats" : "vec4i(ints") + place;
        break;
      }
      case Expression::Kind::cast: value = cast_text(variable(line.operands[0]), operand, line.dtype); break;
      case Expression::Kind::op: {
        const DType computes = line.op->takes == Takes::condition ? line.dtype : operand;
        for (std::size_t k = 0; k < opaque[i].operands.size(); ++k)
          if (opaque[i].operands[k])
            text += "  " + std::string(spelling.float_variable) + opaque_operand(i, k) + " = opaque(" +
                    variable(line.operands[k]) + ", " + std::to_string(k) + "u);\n";
        const std::string_view code = is_float(computes) ? line.op->float_code : line.op->int_code;
        value = narrowed(with_operands(code, line, i, opaque[i]), line.dtype);
        if (opaque[i].result) value = "opaquei(" + value + ", 0u)";
        break;
      }
    }
    text.append("  ").append(is_float(line.dtype) ? spelling.float_variable : spelling.int_variable);
    text.append(variable(i)).append(" = ").append(value).append(";\n");
  }
  return text;
}

}  // namespace tessera
