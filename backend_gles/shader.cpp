#include "backend_gles/shader.h"

#include <stdexcept>

#include "core/kernel/embedded_shader.h"
#include "core/kernel/glsl_spelling.h"
#include "core/kernel/parameter_text.h"
#include "core/kernel/shader_text.h"

namespace tessera::gles {
namespace {

std::string word(int index) { return "word_int(" + std::to_string(index) + ")"; }

// input_k_texel() for texels of a storage with layers. All of its elements are read as texels.
std::string layer_functions(int k, DType dtype) {
  const std::string name = "input_" + std::to_string(k), sampler = sampler_name(k);
  const std::string vector = glsl_spelling(vector_type(dtype));
  return "uniform " + std::string(sampler_type(dtype)) + "Array " + sampler + ";\n" + vector + " " + name +
         "_texel(uint at) {\n  return texelFetch(" + sampler +
         ", ivec3(at & 16383u, (at >> 14) & 16383u, at >> 28), 0);\n}\n" + vector + " " + name +
         "(uvec4 at) { return " + name + "_texel(at.x); }\n";
}

std::string term_text(const KernelInput& input, int first_word, int term, const std::string& element) {
  const TermCall call = call_of_term(input, term);
  std::string text = std::string(call.function) + (call.takes_first ? "uint(4 * t)" : element);
  for (int i = call.first_word; i < 3; ++i) text += ", uint(" + word(first_word + 1 + 3 * term + i) + ")";
  return text + ")";
}

// input_k(): the four elements of input k that belong to texel t of the output; for an operand of the core, those for
// four elements of the operand, and input_k_texel() for a texel of it.
std::string input_function(const Kernel& kernel, int k, bool is_in_place) {
  const KernelInput& input = kernel.inputs[static_cast<std::size_t>(k)];
  const std::string name = std::to_string(k), vector = glsl_spelling(vector_type(input.dtype));
  const int first = kernel.first_word_of_input(k);
  const bool is_operand = input.operand != KernelInput::none;
  if (input.access == Access::layers) return layer_functions(k, input.dtype);
  std::string text = is_in_place ? "uniform vec2 " + texel_size_name(k) + ";\n" : "";
  text += vector + " input_" + name + (is_operand ? "(uvec4 element) {\n" : "() {\n");
  switch (input.access) {
    case Access::dense:
      if (is_operand) text += "  ivec4 at = ivec4(element) + " + word(first) + ";\n" + four_elements(name, vector);
      else if (is_in_place)  // software drivers sample the nearest texel in less time than they fetch one
        text += "  return " + vector + "(textureLod(" + sampler_name(k) + ", gl_FragCoord.xy * " + texel_size_name(k) +
                ", 0.0));\n";
      else text += "  return texel_" + name + "(t + (" + word(first) + " >> 2));\n";
      break;
    case Access::scalar: text += "  return " + vector + "(element_" + name + "(" + word(first) + "));\n"; break;
    case Access::strided:
      text += "  ivec4 at = ivec4(" + word(first) + ");\n";
      for (int term = 0; term < input.terms; ++term)
        text += "  at += ivec4(" + term_text(input, first, term, is_operand ? "element" : "elements") + ");\n";
      text += four_elements(name, vector);
      break;
    case Access::texels:
      text += "  int at = " + word(first) + ";\n";
      for (int term = 0; term < input.terms; ++term)
        text += "  at += int(" + term_text(input, first, term, "uvec4(4 * t)") + ".x);\n";
      text += "  return texel_" + name + "(at >> 2);\n";
      break;
    case Access::repeated:
      text += "  int at = " + word(first) + ";\n";
      for (int term = 0; term < input.terms; ++term)
        text += "  at += int(" + term_text(input, first, term, "uvec4(4 * t)") + ".x);\n";
      text += "  return " + vector + "(element_" + name + "(at));\n";
      break;
    case Access::row: throw std::logic_error("Kernels of OpenGL ES go along no rows.");
    case Access::layers: break;  // see above
  }
  text += "}\n";
  if (!is_operand) return text;
  text += vector + " input_" + name + "_texel(uint at) { return ";
  if (input.access == Access::dense) return text + "texel_" + name + "(int(at) + (" + word(first) + " >> 2)); }\n";
  return text + "input_" + name + "(uvec4(4u * at) + uvec4(0u, 1u, 2u, 3u)); }\n";
}

std::string inputs_text(const Kernel& kernel, const Variant& variant) {
  std::string text;
  for (int k = 0; k < static_cast<int>(kernel.inputs.size()); ++k) {
    const KernelInput& input = kernel.inputs[static_cast<std::size_t>(k)];
    if (input.access != Access::layers)
      text += fetch_functions(
          k, input.dtype,
          (input.access != Access::dense && input.access != Access::texels) || input.operand != KernelInput::none);
    text += input_function(kernel, k, variant.inputs_in_place >> k & 1u);
  }
  return functions_of("index", text) + text + glsl_spelling(operand_functions(kernel));
}

// find_texel(): makes `t` the texel of the elements that a place of their layout has; false where it has none.
std::string find_texel_text(const Kernel& kernel) {
  if (!kernel.is_laid_out()) return {};
  return "bool find_texel(int x, int y) {\n" + glsl_spelling(kernel.layout.place) +
         "  t = at.x >> 2;\n  return has_elements;\n}\n";
}

// Stores the value of a kernel: no bit of elements past the end.
std::string result_text(const Kernel& kernel, const Variant& variant) {
  const std::string value = "v" + std::to_string(kernel.expression.lines.size() - 1);
  const DType dtype = kernel.expression.result();
  if (is_unsigned(dtype)) return "  result = uvec4(" + value + " & tessera_inside);\n";
  if (!is_float(dtype)) return "  result = " + value + " & tessera_inside;\n";
  const std::string stored = dtype == DType::f16 ? stored_half(value, variant) : value;
  if (kernel.is_laid_out()) return "  result = " + stored + ";\n";
  return "  result = intBitsToFloat(floatBitsToInt(" + stored + ") & tessera_inside);\n";
}

}  // namespace

std::string functions_of(std::string_view file, std::string_view code) {
  const std::string name(file);
  return used_functions_in_glsl(embedded_shader(name + ".wgsl"), embedded_shader(name + ".glsl"), code);
}

std::string fetch_functions(int k, DType dtype, bool by_element) {
  const std::string name = std::to_string(k), sampler = sampler_name(k), vector = glsl_spelling(vector_type(dtype));
  const std::string scalar = is_float(dtype) ? "float" : "int";
  std::string text = "uniform " + std::string(sampler_type(dtype)) + " " + sampler + ";\n" + vector + " texel_" + name +
                     "(int texel) { return " + vector + "(texelFetch(" + sampler + ", place(texel, textureSize(" +
                     sampler + ", 0).x), 0)); }\n";
  if (by_element)
    text += scalar + " element_" + name + "(int element) { return texel_" + name + "(element >> 2)[element & 3]; }\n";
  return text;
}

std::string four_elements(const std::string& name, const std::string& vector) {
  std::string text = "  return " + vector;
  for (const char component : {'x', 'y', 'z', 'w'})
    text += std::string(component == 'x' ? "(" : ", ") + "element_" + name + "(at." + component + ")";
  return text + ");\n";
}

std::string words_text(int words) {
  return std::string(embedded_shader("words.glsl")) + "uniform ivec4 " + words_name + "[" +
         // Branches that a kernel's options rule out may read parameters beyond its own, which compilers check all the
         // same.
         std::to_string(vectors_of_words(words) + spare_vectors) + "];\n";
}

std::string output_text(std::string_view name, int location, DType dtype) {
  const std::string_view type = is_float(dtype) ? "vec4" : is_unsigned(dtype) ? "uvec4" : "ivec4";
  return "layout(location = " + std::to_string(location) + ") out " + std::string(type) + " " + std::string(name) +
         ";\n";
}

std::string stored_half(const std::string& value, const Variant& variant) {
  if (!variant.stores_half_infinity_as_nan) return value;
  return "mix(" + value + ", sign(" + value + ") * 65536.0, greaterThan(abs(" + value + "), vec4(65504.0)))";
}

std::string elements_text(const std::string& value, DType dtype, const Variant& variant) {
  if (is_float(dtype))
    return "  result = mix(vec4(0.0), " + (dtype == DType::f16 ? stored_half(value, variant) : value) + ", inside);\n";
  if (is_unsigned(dtype)) return "  result = uvec4(" + value + ") * uvec4(inside);\n";
  return "  result = " + value + " * ivec4(inside);\n";
}

std::string header_text(bool is_desktop, std::string_view text) {
  if (is_desktop) return "#version 330 core\n";
  std::string header = "#version 300 es\n";
  const bool is_external = text.find(external_sampler) != std::string_view::npos;
  if (is_external) header += "#extension GL_OES_EGL_image_external_essl3 : require\n";
  for (const std::string_view type : {"float", "int"}) header += "precision highp " + std::string(type) + ";\n";
  for (const std::string_view kind : {"", "i", "u"})
    for (const std::string_view shape : {"2D", "2DArray", "3D", "Cube"})
      header += "precision highp " + std::string(kind) + "sampler" + std::string(shape) + ";\n";
  if (is_external) header += "precision highp " + std::string(external_sampler) + ";\n";
  return header;
}

std::string vertex_text(std::string_view fragment_text) {
  const bool asks_for_end = fragment_text.find(inside_name) != std::string_view::npos;
  return std::string(embedded_shader(asks_for_end ? "vertices.glsl" : "viewport.glsl"));
}

std::string fragment_text(const Kernel& kernel, const Variant& variant) {
  const std::string expression = glsl_spelling(expression_text(kernel, kernel.expression, ""));
  const std::string inputs = inputs_text(kernel, variant);
  std::string call, core, options;
  if (kernel.has_core()) {
    options = glsl_spelling("alias core_vector = " + vector_type(kernel.core.dtype) + ";\n");
    call = "  core_vector core_value = " + std::string(kernel.core.entry) + "(elements);\n";
    core = functions_of(kernel.core.file, call);
    if (kernel.core.siblings > 1) {
      call = "  core_vector core_value = core_of_sibling(elements);\n";
      core = with_siblings(core, kernel.core) + glsl_spelling(choice_of_sibling(kernel.core, "u32(word_int(0))"));
    } else if (kernel.core.values > 1) {
      core = with_siblings(core, kernel.core);
      for (int i = 1; i < kernel.core.values; ++i)
        call += "  core_vector " + core_value(i) + " = " + core_function(kernel.core, i) + "(elements);\n";
    }
    core = with_words_for_names(functions_of("window", core) + core, kernel.core, "uint");
    for (std::size_t i = 0; i < kernel.core.options.size(); ++i)
      options += "const int " + option_name(kernel.core, i) + " = " + std::to_string(kernel.core.options[i]) + ";\n";
  }
  const std::string text =
      fill_template(embedded_shader("map.glsl"), {{"head", kernel.is_laid_out() ? "#define LAID_OUT\n" : ""},
                                                  {"words", words_text(kernel.word_count())},
                                                  {"place", std::string(embedded_shader("place.glsl"))},
                                                  {"functions", functions_of("pointwise", inputs + core + expression)},
                                                  {"inputs", inputs},
                                                  {"core", options + core + find_texel_text(kernel)},
                                                  {"output", output_text("result", 0, kernel.expression.result())},
                                                  {"call", call},
                                                  {"expression", expression},
                                                  {"result", result_text(kernel, variant)}});
  return with_constants(text, kernel.constants, ShaderLanguage::glsl);
}

// Expressions know two types, floats and integers; textures know unsigned ones too.
std::string_view sampler_type(DType dtype) {
  return is_float(dtype) ? "sampler2D" : is_unsigned(dtype) ? "usampler2D" : "isampler2D";
}

std::string sampler_name(int input) { return "in_" + std::to_string(input); }
std::string texel_size_name(int input) { return "texel_size_" + std::to_string(input); }

}  // namespace tessera::gles
