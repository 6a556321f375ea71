#include "backend_webgpu/shader.h"

#include "backend_webgpu/parameters.h"
#include "core/embedded_shader.h"
#include "core/shader_text.h"

namespace tessera::webgpu {
namespace {

// How shaders see a buffer: as texels, or as words with one or more elements each.
struct BufferLayout {
  std::string_view texel, word;
  int elements_per_word;
  std::string_view packing;  // names the functions of shaders_wgsl/texel.wgsl; empty where elements are whole words
};

BufferLayout layout_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return {"vec4f", "f32", 1, ""};
    case DType::i32:
      return {"vec4i", "i32", 1, ""};
    case DType::f16:
      return {"vec2u", "u32", 2, "f16"};
    case DType::i8:
      return {"u32", "u32", 4, "i8"};
    case DType::u8:
    case DType::boolean:
      break;
  }
  return {"u32", "u32", 4, "u8"};
}

std::string word(int index) { return "word(" + std::to_string(index) + "u)"; }

std::string binding(int index, std::string_view access, std::string_view name, std::string_view type) {
  std::string text = "@group(0) @binding(" + std::to_string(index) + ") var<storage, ";
  return text.append(access).append("> ").append(name).append(": array<").append(type).append(">;\n");
}

std::string bindings_text(const Kernel& kernel) {
  std::string text;
  int index = 0;
  for (const KernelInput& input : kernel.inputs) {
    const BufferLayout layout = layout_of(input.dtype);
    const std::string name = "source_" + std::to_string(index);
    text += binding(++index, "read", name, input.access == Access::dense ? layout.texel : layout.word);
  }
  return text + binding(index + 1, "read_write", "destination", layout_of(kernel.expression.result()).texel);
}

// element_k(): one element of input k, for inputs that are not read by the texel.
std::string element_function(const std::string& k, DType dtype) {
  const BufferLayout layout = layout_of(dtype);
  const std::string per_word = std::to_string(layout.elements_per_word);
  std::string text = "fn element_" + k + "(at: u32) -> " + (is_float(dtype) ? "f32" : "i32") + " { return ";
  if (layout.packing.empty())
    text += "source_" + k + "[at]";
  else
    text.append("element_").append(layout.packing) += "(source_" + k + "[at / " + per_word + "u], at)";
  return text + "; }\n";
}

// input_k(): the elements of input k for this texel of the output.
std::string input_function(const Kernel& kernel, int index) {
  const KernelInput& input = kernel.inputs[static_cast<std::size_t>(index)];
  const std::string k = std::to_string(index);
  const std::string vector = is_float(input.dtype) ? "vec4f" : "vec4i";
  const int offset = kernel.first_word_of_input(index);
  std::string text = input.access == Access::dense ? "" : element_function(k, input.dtype);
  text += "fn input_" + k + "() -> " + vector + " {\n";
  switch (input.access) {
    case Access::dense: {
      const std::string_view packing = layout_of(input.dtype).packing;
      const std::string texel = "source_" + k + "[texel + " + word(offset) + " / 4u]";
      text += "  return " + (packing.empty() ? texel : "texel_" + std::string(packing) + "(" + texel + ")") + ";\n";
      break;
    }
    case Access::scalar:
      text += "  return " + vector + "(element_" + k + "(" + word(offset) + "));\n";
      break;
    case Access::strided:
      text += "  let element = elements();\n  var at = vec4u(" + word(offset) + ");\n";
      for (int term = 0; term < input.terms; ++term)
        text += "  at += term(" + std::to_string(offset + 1 + 3 * term) + "u, element);\n";
      text += "  return " + vector;
      for (const char component : {'x', 'y', 'z', 'w'})
        text += std::string(component == 'x' ? "(" : ", ") + "element_" + k + "(at." + component + ")";
      text += ");\n";
      break;
  }
  return text + "}\n";
}

// Elements past the end are zero.
std::string store_text(const Expression& expression) {
  const std::string_view packing = layout_of(expression.result()).packing;
  const std::string zero = is_float(expression.result()) ? "vec4f()" : "vec4i()";
  const std::string value = "select(" + zero + ", v" + std::to_string(expression.lines.size() - 1) + ", inside)";
  return "  destination[texel] = " + (packing.empty() ? value : "packed_" + std::string(packing) + "(" + value + ")") +
         ";\n";
}

}  // namespace

std::string shader_text(const Kernel& kernel, std::uint32_t workgroup_size) {
  const std::uint64_t vectors = parameter_vectors(static_cast<std::size_t>(kernel.word_count()));
  const std::string constants = "const word_vectors = " + std::to_string(vectors) +
                                "u;\nconst workgroup_size = " + std::to_string(workgroup_size) + "u;\n";
  std::string inputs;
  for (int k = 0; k < static_cast<int>(kernel.inputs.size()); ++k) inputs += input_function(kernel, k);
  const std::string expression = expression_text(kernel, {"let ", "let "});
  const std::string store = store_text(kernel.expression);
  return fill_template(embedded_shader("map.wgsl"),
                       {{"constants", constants},
                        {"bindings", bindings_text(kernel)},
                        {"inputs", inputs},
                        {"functions", used_functions(embedded_shader("texel.wgsl"), inputs + store) +
                                          used_functions(embedded_shader("pointwise.wgsl"), expression)},
                        {"expression", expression},
                        {"store", store}});
}

}  // namespace tessera::webgpu
