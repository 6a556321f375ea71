#include "backend_webgpu/shader.h"

#include "backend_webgpu/buffer_text.h"
#include "backend_webgpu/parameters.h"
#include "core/kernel/embedded_shader.h"
#include "core/kernel/parameter_text.h"
#include "core/kernel/shader_text.h"

namespace tessera::webgpu {
namespace {

// What cores read lies in order, if it is not strided: they may ask for it by the texel.
bool reads_texels(const KernelInput& input) { return input.access == Access::dense || input.access == Access::texels; }

std::string word(int index) { return "word(" + std::to_string(index) + "u)"; }

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

// input_k(): the elements of input k for this texel of the output; for an operand of the core, those for four elements
// of the operand, and input_k_texel() for a texel of it.
std::string input_function(const Kernel& kernel, int index) {
  const KernelInput& input = kernel.inputs[static_cast<std::size_t>(index)];
  const std::string k = std::to_string(index);
  const std::string vector = vector_type(input.dtype);
  const bool is_operand = input.operand != KernelInput::none;
  const std::string offset = is_operand ? "offset_" + k : word(kernel.first_word_of_input(index));
  std::string text = is_operand || !reads_texels(input) ? element_function(k, input.dtype, reads_texels(input)) : "";
  text += "fn input_" + k + (is_operand ? "(element: vec4u)" : "()") + " -> " + vector + " {\n";
  switch (input.access) {
    case Access::dense:
      if (is_operand) text += "  let at = element + " + offset + ";\n  return " + four_elements(k, input.dtype) + ";\n";
      else text += "  return " + texel_text(k, input.dtype, "texel + " + offset + " / 4u") + ";\n";
      break;
    case Access::scalar: text += "  return " + vector + "(element_" + k + "(" + offset + "));\n"; break;
    case Access::strided:
      if (!is_operand) text += "  let element = elements();\n";
      text += "  var at = vec4u(" + offset + ");\n";
      for (int term = 0; term < input.terms; ++term)
        text += "  at += term(" + std::to_string(kernel.first_word_of_input(index) + 1 + 3 * term) + "u, element);\n";
      text += "  return " + four_elements(k, input.dtype) + ";\n";
      break;
    case Access::texels:
      text += "  var at = " + offset + ";\n";
      for (int term = 0; term < input.terms; ++term)
        text += "  at += term_of_texel(" + std::to_string(kernel.first_word_of_input(index) + 1 + 3 * term) + "u);\n";
      text += "  return " + texel_text(k, input.dtype, "at / 4u") + ";\n";
      break;
  }
  text += "}\n";
  if (!is_operand) return text;
  text += "fn input_" + k + "_texel(at: u32) -> " + vector + " { return ";
  if (input.access == Access::dense) return text + texel_text(k, input.dtype, "at + " + offset + " / 4u") + "; }\n";
  return text + "input_" + k + "(4u * at + vec4u(0u, 1u, 2u, 3u)); }\n";
}

// The offsets of operands are read before the core runs: in its loops, reads of parameters cost as much as others.
std::string offset_variables(const Kernel& kernel) {
  std::string text;
  for (std::size_t k = 0; k < kernel.inputs.size(); ++k)
    if (kernel.inputs[k].operand != KernelInput::none) text += "var<private> offset_" + std::to_string(k) + ": u32;\n";
  return text;
}

std::string offset_reads(const Kernel& kernel) {
  std::string text;
  for (int k = 0; k < static_cast<int>(kernel.inputs.size()); ++k)
    if (kernel.inputs[static_cast<std::size_t>(k)].operand != KernelInput::none)
      text += "  offset_" + std::to_string(k) + " = " + word(kernel.first_word_of_input(k)) + ";\n";
  return text;
}

// Elements past the end are zero.
std::string store_text(const Expression& expression) {
  const std::string zero = is_float(expression.result()) ? "vec4f()" : "vec4i()";
  const std::string value = "select(" + zero + ", v" + std::to_string(expression.lines.size() - 1) + ", inside)";
  return "  let inside = 4u * texel + vec4u(0u, 1u, 2u, 3u) < vec4u(word(0u));\n  destination[texel] = " +
         packed_text(expression.result(), value) + ";\n";
}

}  // namespace

std::string shader_text(const Kernel& kernel, std::uint32_t workgroup_size) {
  const std::uint64_t vectors = parameter_vectors(static_cast<std::size_t>(kernel.word_count()));
  std::string constants = "const word_vectors = " + std::to_string(vectors) +
                          "u;\nconst workgroup_size = " + std::to_string(workgroup_size) + "u;\n";
  for (std::size_t i = 0; i < kernel.core.options.size(); ++i)
    constants += "const " + option_name(kernel.core, i) + " = " + std::to_string(kernel.core.options[i]) + "i;\n";
  std::string inputs = offset_variables(kernel);
  for (int k = 0; k < static_cast<int>(kernel.inputs.size()); ++k) inputs += input_function(kernel, k);
  inputs += operand_functions(kernel);
  std::string call, core;
  if (kernel.has_core()) {
    const std::string entry(kernel.core.entry);
    call = kernel.core.is_cooperative ? "  " + entry + "(group.y * groups.x + group.x, local.x);\n"
                                      : "  finish(" + entry + "(elements()));\n";
    core = used_functions(embedded_shader(std::string(kernel.core.file) + ".wgsl"), call);
    for (const char* library : {"window.wgsl", "octet.wgsl"})
      core = used_functions(embedded_shader(library), core) + core;
    core = with_words_for_names(core, kernel.core, "u32");
  } else {
    call = "  finish();\n";
  }
  constants += "alias core_vector = " + vector_type(kernel.core.dtype) + ";\n";
  const std::string finish = std::string("fn finish(") + (kernel.has_core() ? "core_value: core_vector" : "") + ") {\n";
  const std::string expression = expression_text(kernel, kernel.expression, "");
  const std::string store = store_text(kernel.expression);
  const std::string_view entry_point = embedded_shader(kernel.core.in_octets        ? "in_octets.wgsl"
                                                       : kernel.core.is_cooperative ? "cooperative.wgsl"
                                                                                    : "map.wgsl");
  const std::string extensions = kernel.core.in_octets ? "enable subgroups;\n" : "";
  return fill_template(
      extensions + std::string(embedded_shader("kernel.wgsl")).append(entry_point),
      {{"constants", constants},
       {"words", std::string(embedded_shader("words.wgsl"))},
       {"bindings", bindings_text(kernel)},
       {"inputs", inputs},
       {"functions", used_functions(embedded_shader("texel.wgsl"), inputs + store) +
                         used_functions(embedded_shader("pointwise.wgsl"), inputs + core + expression)},
       {"finish", finish + expression + store + "}\n"},
       {"core", core},
       {"call", offset_reads(kernel) + call}});
}

}  // namespace tessera::webgpu
