#include "core/kernel/shader_text.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/kernel/glsl_spelling.h"
#include "core/kernel/opaque.h"
#include "core/kernel/wgsl_tokens.h"

namespace tessera {
namespace {

// Calls visit(text, is_name) for each name of `code` and for each stretch between names; comments have no names.
template <class Visit>
void for_each_name(std::string_view code, const Visit& visit) {
  for (std::size_t at = 0; at < code.size();) {
    const bool is_name = is_of_wgsl_word(code[at]);
    std::size_t end = at;
    while (end < code.size() && is_of_wgsl_word(code[end]) == is_name)
      end = code.substr(end).starts_with("//") ? std::min(code.size(), code.find('\n', end)) : end + 1;
    visit(code.substr(at, end - at), is_name);
    at = end;
  }
}

std::vector<std::string_view> blocks_of(std::string_view library) {
  std::vector<std::string_view> blocks;
  if (library.ends_with('\n')) library.remove_suffix(1);
  while (!library.empty()) {
    const std::size_t end = library.find("\n\n");
    blocks.push_back(library.substr(0, end));
    if (end == std::string_view::npos) break;
    library.remove_prefix(end + 2);
  }
  return blocks;
}

// A block defines a function, which has the name before its first parenthesis outside of comments, and perhaps a struct
// before it.
std::vector<std::string_view> names_of(std::string_view block) {
  while (block.starts_with("//")) block.remove_prefix(std::min(block.size() - 1, block.find('\n')) + 1);
  std::vector<std::string_view> words;
  for_each_name(block.substr(0, block.find('(')), [&](std::string_view part, bool is_name) {
    if (is_name) words.push_back(part);
  });
  if (words.empty()) return {};
  if (words[0] == "struct") return {words[1], words.back()};
  return {words.back()};
}

// The functions and structs of shader files, by their names.
class ShaderLibrary {
 public:
  // Functions and structs of an earlier file stay.
  void add(std::string_view file, bool is_to_be_spelled) {
    for (const std::string_view block : blocks_of(file)) {
      blocks_.push_back({block, is_to_be_spelled, false});
      for (const std::string_view name : names_of(block)) places_.try_emplace(name, blocks_.size() - 1);
    }
  }

  // The blocks that `code` names and that were not given before, each after the blocks that it names.
  std::string named_by(std::string_view code) {
    std::string text;
    bool is_member = false;  // of a struct, which may have the name of a function
    for_each_name(code, [&](std::string_view part, bool is_name) {
      const auto place = is_name && !is_member ? places_.find(part) : places_.end();
      is_member = !is_name && part.ends_with('.');
      if (place == places_.end() || std::exchange(blocks_[place->second].is_given, true)) return;
      const Block& block = blocks_[place->second];
      const std::string spelled = block.is_to_be_spelled ? glsl_spelling(block.text) : std::string(block.text);
      text += named_by(spelled) + spelled + "\n\n";
    });
    return text;
  }

 private:
  struct Block {
    std::string_view text;
    bool is_to_be_spelled, is_given;
  };
  std::vector<Block> blocks_;
  std::map<std::string_view, std::size_t> places_;
};

std::string with_heading(std::string_view library, const std::string& functions) {
  return functions.empty() ? "" : std::string(blocks_of(library)[0]) + "\n\n" + functions;
}

std::string variable(std::size_t line) { return "v" + std::to_string(line); }

// The variable for an opaque operand: v5a is operand a of line 5, for that line alone.
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

std::string cast_text(const std::string& value, DType from, DType to) {
  if (to == DType::boolean)
    // A float by its bits: compilers make a comparison of x - y with 0 one of x with y.
    return "vec4i(nei(" + (is_float(from) ? "bits_of(" + value + ") & vec4i(0x7fffffff)" : value) + ", vec4i(0)))";
  if (is_float(to)) return narrowed(is_float(from) ? value : "vec4f(" + value + ")", to);
  if (!is_float(from)) return narrowed(value, to);
  if (to == DType::i8) return "float_to_byte(" + value + ", vec4f(-128.0), vec4f(127.0))";
  if (to == DType::u8) return "float_to_byte(" + value + ", vec4f(0.0), vec4f(255.0))";
  return "float_to_i32(" + value + ")";
}

}  // namespace

std::string vector_type(DType dtype) { return is_float(dtype) ? "vec4f" : "vec4i"; }

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
  ShaderLibrary blocks;
  blocks.add(library, false);
  return with_heading(library, blocks.named_by(code));
}

std::string used_functions_in_glsl(std::string_view library, std::string_view in_glsl, std::string_view code) {
  ShaderLibrary blocks;
  blocks.add(in_glsl, false);
  blocks.add(library, true);
  return with_heading(library, blocks.named_by(code));
}

std::string narrowed(std::string text, DType dtype) {
  if (dtype == DType::f16) return "round_f16(" + text + ")";
  if (dtype == DType::i8) return "wrap_i8(" + text + ")";
  if (dtype == DType::u8) return "wrap_u8(" + text + ")";
  return text;
}

std::vector<std::string> statements_of(const Expression& expression,
                                       const std::function<std::string(const Expression::Line&)>& leaf) {
  std::vector<std::string> statements;
  const auto& lines = expression.lines;
  const std::vector<OpaqueValues> opaque = opaque_values(expression);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Expression::Line& line = lines[i];
    const DType operand = lines[line.operands[0]].dtype;
    std::string text, value;
    switch (line.kind) {
      case Expression::Kind::input:
      case Expression::Kind::core:
      case Expression::Kind::number: value = leaf(line); break;
      case Expression::Kind::cast: value = cast_text(variable(line.operands[0]), operand, line.dtype); break;
      case Expression::Kind::op: {
        const DType computes = line.op->takes == Takes::condition ? line.dtype : operand;
        for (std::size_t k = 0; k < opaque[i].operands.size(); ++k)
          if (opaque[i].operands[k])
            text += "  let " + opaque_operand(i, k) + ": vec4f = opaque(" + variable(line.operands[k]) + ", " +
                    std::to_string(k) + "u);\n";
        const std::string_view code = is_float(computes) ? line.op->float_code : line.op->int_code;
        value = narrowed(with_operands(code, line, i, opaque[i]), line.dtype);
        if (opaque[i].result) value = "opaquei(" + value + ", 0u)";
        break;
      }
    }
    statements.push_back(text + "  let " + variable(i) + ": " + vector_type(line.dtype) + " = " + value + ";\n");
  }
  return statements;
}

std::string expression_text(const Kernel& kernel, const Expression& expression, std::string_view index) {
  const auto leaf = [&](const Expression::Line& line) -> std::string {
    if (line.kind == Expression::Kind::input)
      return "input_" + std::to_string(line.index) + "(" + std::string(index) + ")";
    if (line.kind == Expression::Kind::core) return narrowed(core_value(line.index), line.dtype);
    // Four words are read at once: each read of a parameter costs a check of its place on some drivers.
    const int word = kernel.first_word_of_numbers() + line.index;
    const std::string place = "_of_words(" + std::to_string(word / 4) + ")." + "xyzw"[word % 4] + ")";
    return (is_float(line.dtype) ? "vec4f(floats" : "vec4i(ints") + place;
  };
  std::string text;
  for (const std::string& statement : statements_of(expression, leaf)) text += statement;
  return text;
}

std::string with_siblings(std::string core_functions, const KernelCore& core) {
  const std::string functions = core_functions, first_operand = "operand_0";
  for (int sibling = 1; sibling < std::max(core.siblings, core.values); ++sibling) {
    const std::string number = std::to_string(sibling);
    for_each_name(functions, [&](std::string_view part, bool is_name) {
      if (is_name && part.starts_with(first_operand))
        core_functions.append("operand_").append(number).append(part.substr(first_operand.size()));
      else if (is_name && part.starts_with(std::string(core.file) + "_"))
        core_functions.append(part).append("_of_").append(number);
      else core_functions += part;
    });
  }
  return core_functions;
}

std::string core_function(const KernelCore& core, int operand) {
  return std::string(core.entry) + (operand > 0 ? "_of_" + std::to_string(operand) : "");
}

std::string core_value(int operand) { return "core_value" + (operand > 0 ? "_" + std::to_string(operand) : ""); }

std::string choice_of_sibling(const KernelCore& core, const std::string& elements) {
  std::string text = "fn core_of_sibling(element: vec4u) -> core_vector {\n  let size: u32 = " + elements + " / " +
                     std::to_string(core.siblings) +
                     "u;\n  let sibling: u32 = element.x / size;\n  let own: vec4u = element - vec4u(sibling * size);\n"
                     "  var value: core_vector = core_vector(0);\n";
  for (int sibling = 0; sibling < core.siblings; ++sibling)
    text +=
        "  if (sibling == " + std::to_string(sibling) + "u) { value = " + core_function(core, sibling) + "(own); }\n";
  return text + "  return value;\n}\n";
}

std::string operand_functions(const Kernel& kernel) {
  std::string text;
  for (std::size_t k = 0; k < kernel.operands.size(); ++k) {
    const Expression& operand = kernel.operands[k];
    const std::string name = "fn operand_" + std::to_string(k);
    const std::string gives = " -> " + vector_type(operand.result()) + " {\n";
    const std::string result = "  return v" + std::to_string(operand.lines.size() - 1) + ";\n}\n";
    std::string by_texel = expression_text(kernel, operand, "at");
    for (std::size_t at = 0; (at = by_texel.find("(at)", at)) != std::string::npos; at += 10)
      by_texel.insert(at, "_texel");
    text += name + "(element: vec4u)" + gives + expression_text(kernel, operand, "element") + result;
    text += name + "_texel(at: u32)" + gives + by_texel + result;
  }
  return text;
}

}  // namespace tessera
