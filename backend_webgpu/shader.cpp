#include "backend_webgpu/shader.h"

#include <stdexcept>
#include <vector>

#include "backend_webgpu/buffer_text.h"
#include "backend_webgpu/parameters.h"
#include "backend_webgpu/two_texels.h"
#include "core/kernel/embedded_shader.h"
#include "core/kernel/parameter_text.h"
#include "core/kernel/shader_text.h"

namespace tessera::webgpu {
namespace {

// What cores read lies in order, if it is not strided: they may ask for it by the texel.
bool reads_texels(const KernelInput& input) {
  return input.access == Access::dense || input.access == Access::texels || input.access == Access::row;
}

// The words of inputs, and how many elements the output has, are read before anything else: in loops, and in the copies
// of what follows a core, reads of parameters cost as much as others.
std::string word(int index) { return "word_" + std::to_string(index); }

std::vector<int> words_read_first(const Kernel& kernel) {
  std::vector<int> words{0};
  for (int index = kernel.first_word_of_input(0); index < kernel.first_word_of_numbers(); ++index)
    words.push_back(index);
  return words;
}

std::string bindings_text(const Kernel& kernel) {
  std::string text;
  int index = 0;
  for (const KernelInput& input : kernel.inputs) {
    const BufferLayout layout = layout_of(input.dtype);
    const std::string name = "source_" + std::to_string(index);
    text += binding(++index, "read", name, reads_texels(input) ? layout.texel : layout.word);
  }
  return text + binding(index + 1, "read_write", "destination", layout_of(kernel.expression.result()).texel);
}

// input_k(texel): the elements of input k for a texel of the output; for an operand of the core, those for four
// elements of the operand, and input_k_texel() for a texel of it.
std::string input_function(const Kernel& kernel, int index) {
  const KernelInput& input = kernel.inputs[static_cast<std::size_t>(index)];
  const std::string k = std::to_string(index);
  const std::string vector = vector_type(input.dtype);
  const bool is_operand = input.operand != KernelInput::none;
  const int first_word = kernel.first_word_of_input(index);
  const std::string offset = word(first_word);
  const auto term_text = [&](int term, const std::string& element) {
    const TermCall call = call_of_term(input, term);
    std::string text = std::string(call.function) + (call.takes_first ? "4u * texel" : element);
    for (int i = call.first_word; i < 3; ++i) text += ", " + word(first_word + 1 + 3 * term + i);
    return text + ")";
  };
  std::string text = is_operand || !reads_texels(input) ? element_function(k, input.dtype, reads_texels(input)) : "";
  text += "fn input_" + k + (is_operand ? "(element: vec4u)" : "(texel: u32)") + " -> " + vector + " {\n";
  switch (input.access) {
    case Access::dense:
      if (is_operand) text += "  let at = element + " + offset + ";\n  return " + four_elements(k, input.dtype) + ";\n";
      else text += "  return " + texel_text(k, input.dtype, "texel + " + offset + " / 4u") + ";\n";
      break;
    case Access::scalar: text += "  return " + vector + "(element_" + k + "(" + offset + "));\n"; break;
    case Access::strided:
      if (!is_operand) text += "  let element = elements_of(texel);\n";
      text += "  var at = vec4u(" + offset + ");\n";
      for (int term = 0; term < input.terms; ++term) text += "  at += " + term_text(term, "element") + ";\n";
      text += "  return " + four_elements(k, input.dtype) + ";\n";
      break;
    case Access::texels:
      // The first term has a block and a stride of 1.
      text += "  var at = " + offset + " + (4u * texel) % " + word(first_word + 2) + ";\n";
      for (int term = 1; term < input.terms; ++term)
        text += "  at += " + term_text(term, "vec4u(4u * texel)") + ".x;\n";
      text += "  return " + texel_text(k, input.dtype, "at / 4u") + ";\n";
      break;
    case Access::repeated:
      text += "  var at = " + offset + ";\n";
      for (int term = 0; term < input.terms; ++term)
        text += "  at += " + term_text(term, "vec4u(4u * texel)") + ".x;\n";
      text += "  return " + vector + "(element_" + k + "(at));\n";
      break;
    case Access::row:
      text += "  return " + texel_text(k, input.dtype, "texel - row_start + " + offset + " / 4u") + ";\n";
      break;
    case Access::layers: throw std::logic_error("No storage of WebGPU has layers.");
  }
  text += "}\n";
  if (!is_operand) return text;
  text += "fn input_" + k + "_texel(at: u32) -> " + vector + " { return ";
  if (input.access == Access::dense) return text + texel_text(k, input.dtype, "at + " + offset + " / 4u") + "; }\n";
  return text + "input_" + k + "(4u * at + vec4u(0u, 1u, 2u, 3u)); }\n";
}

// operand_k_word(): a texel of an operand of 8-bit integers as its bits, where the core asks for one.
std::string word_functions(const Kernel& kernel, const std::string& core) {
  std::string text;
  for (std::size_t k = 0; k < kernel.operands.size(); ++k) {
    const std::string name = "operand_" + std::to_string(k);
    if (core.find(name + "_word(") == std::string::npos) continue;
    const Expression& operand = kernel.operands[k];
    const Expression::Line& line = operand.lines[0];
    const bool is_signed = operand.result() == DType::i8;
    std::string bits = is_signed ? "pack4xI8(" + name + "_texel(at))" : "pack4xU8(vec4u(" + name + "_texel(at)))";
    if (operand.lines.size() == 1 && line.kind == Expression::Kind::input &&
        kernel.inputs[line.index].access == Access::dense)
      bits =
          "source_" + std::to_string(line.index) + "[at + " + word(kernel.first_word_of_input(line.index)) + " / 4u]";
    text += "fn " + name + "_word(at: u32) -> u32 { return " + bits + "; }\n";
  }
  return text;
}

// Elements past the end are zero.
std::string store_text(const Expression& expression, const std::string& which = "") {
  const std::string zero = is_float(expression.result()) ? "vec4f()" : "vec4i()";
  const std::string result = which + "v" + std::to_string(expression.lines.size() - 1), texel = which + "texel";
  const std::string inside = "4u * " + texel + " + vec4u(0u, 1u, 2u, 3u) < vec4u(word_0)";
  return "  destination[" + texel +
         "] = " + packed_text(expression.result(), "select(" + zero + ", " + result + ", " + inside + ")") + ";\n";
}

// Without a core, an invocation makes two texels. Where there is no second one, it makes the first one again: a
// condition around the store costs more on some drivers.
std::string finish_text(const Kernel& kernel) {
  const std::string statements = expression_text(kernel, kernel.expression, "texel");
  if (kernel.has_core()) {
    std::string values;
    for (int i = 0; i < kernel.core.values; ++i) values += (i ? ", " : "") + core_value(i) + ": core_vector";
    return "fn finish(" + values + ") {\n" + statements + store_text(kernel.expression) + "}\n";
  }
  return "fn finish() {\n  let has_second = texel + texels_apart <= (word_0 - 1u) / 4u;\n"
         "  let second_texel = select(texel, texel + texels_apart, has_second);\n" +
         statements_of_two_texels(statements) + store_text(kernel.expression) +
         store_text(kernel.expression, "second_") + "}\n";
}

}  // namespace

int texels_of_an_invocation(const Kernel& kernel) { return kernel.has_core() ? 1 : 2; }

std::string shader_text(const Kernel& kernel, std::uint32_t workgroup_size, Octets octets) {
  const std::uint64_t vectors = parameter_vectors(static_cast<std::size_t>(kernel.word_count()));
  std::string constants = "const word_vectors = " + std::to_string(vectors) +
                          "u;\nconst workgroup_size = " + std::to_string(workgroup_size) + "u;\n";
  if (kernel.core.in_octets)
    constants +=
        std::string("const subgroups_are_octets = ") + (octets == Octets::are_subgroups ? "true" : "false") + ";\n";
  for (std::size_t i = 0; i < kernel.core.options.size(); ++i)
    constants += "const " + option_name(kernel.core, i) + " = " + std::to_string(kernel.core.options[i]) + "i;\n";
  std::string inputs, reads;
  for (const int index : words_read_first(kernel)) {
    constants += "var<private> " + word(index) + ": u32;\n";
    reads += "  " + word(index) + " = word(" + std::to_string(index) + "u);\n";
  }
  for (int k = 0; k < static_cast<int>(kernel.inputs.size()); ++k) inputs += input_function(kernel, k);
  inputs = used_functions(embedded_shader("index.wgsl"), inputs) + inputs + operand_functions(kernel);
  std::string call, core;
  if (kernel.has_core()) {
    const std::string entry(kernel.core.entry);
    call = kernel.core.is_cooperative ? "  " + entry + "(group.y * groups.x + group.x, local.x);\n"
                                      : "  finish(" + entry + "(elements()));\n";
    const std::string family = std::string(kernel.core.file) + ".wgsl";
    core = used_functions(embedded_shader(family), call);
    if (kernel.core.siblings > 1) {
      call = "  finish(core_of_sibling(elements()));\n";
      core = with_siblings(core, kernel.core) + choice_of_sibling(kernel.core, "word_0");
    } else if (kernel.core.values > 1) {
      call = "  finish(";
      for (int i = 0; i < kernel.core.values; ++i)
        call += (i ? ", " : "") + core_function(kernel.core, i) + "(elements())";
      call += ");\n";
      core = with_siblings(core, kernel.core);
    }
    for (const char* library : {"matmul.wgsl", "window.wgsl", "dot4.wgsl", "octet.wgsl"})
      if (family != library) core = used_functions(embedded_shader(library), core) + core;
    core = with_words_for_names(word_functions(kernel, core) + core, kernel.core, "u32");
  } else {
    call = "  finish();\n";
    constants += "const texels_apart = 8u;\n";
  }
  constants += "alias core_vector = " + vector_type(kernel.core.dtype) + ";\n";
  const std::string finish = finish_text(kernel);
  const std::string_view entry_point = embedded_shader(!kernel.has_core()           ? "map.wgsl"
                                                       : kernel.core.in_octets      ? "in_octets.wgsl"
                                                       : kernel.core.is_cooperative ? "cooperative.wgsl"
                                                                                    : "one_texel.wgsl");
  const std::string extensions = kernel.core.in_octets ? "enable subgroups;\n" : "";
  const std::string text =
      fill_template(extensions + std::string(embedded_shader("kernel.wgsl")).append(entry_point),
                    {{"constants", constants},
                     {"words", std::string(embedded_shader("words.wgsl"))},
                     {"bindings", bindings_text(kernel)},
                     {"inputs", inputs},
                     {"functions", used_functions(embedded_shader("texel.wgsl"), inputs + finish) +
                                       used_functions(embedded_shader("pointwise.wgsl"), inputs + core + finish)},
                     {"finish", finish},
                     {"core", core},
                     {"call", reads + call}});
  return with_constants(text, kernel.constants, ShaderLanguage::wgsl);
}

}  // namespace tessera::webgpu
