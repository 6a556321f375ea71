#include "backend_webgpu/buffer_text.h"

#include "core/kernel/shader_text.h"

namespace tessera::webgpu {

BufferLayout layout_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return {"vec4f", "f32", 1, ""};
    case DType::i32: return {"vec4i", "i32", 1, ""};
    case DType::f16: return {"vec2u", "u32", 2, "f16"};
    case DType::i8: return {"u32", "u32", 4, "i8"};
    case DType::u8:
    case DType::boolean: break;
  }
  return {"u32", "u32", 4, "u8"};
}

std::string binding(int index, std::string_view access, std::string_view name, std::string_view type) {
  std::string text = "@group(0) @binding(" + std::to_string(index) + ") var<storage, ";
  return text.append(access).append("> ").append(name).append(": array<").append(type).append(">;\n");
}

std::string element_function(const std::string& k, DType dtype, bool is_bound_as_texels) {
  const BufferLayout layout = layout_of(dtype);
  const std::string per_word = std::to_string(layout.elements_per_word);
  const std::string text = "fn element_" + k + "(at: u32) -> " + (is_float(dtype) ? "f32" : "i32") + " { return ";
  std::string word = "source_" + k + (layout.packing.empty() ? "[at]" : "[at / " + per_word + "u]");
  if (is_bound_as_texels && layout.texel != layout.word)
    word = "source_" + k + "[at / 4u][(at % 4u) / " + per_word + "u]";
  if (!layout.packing.empty()) word = "element_" + std::string(layout.packing) + "(" + word + ", at)";
  return text + word + "; }\n";
}

std::string texel_text(const std::string& k, DType dtype, const std::string& at) {
  const std::string_view packing = layout_of(dtype).packing;
  const std::string texel = "source_" + k + "[" + at + "]";
  return packing.empty() ? texel : "texel_" + std::string(packing) + "(" + texel + ")";
}

std::string four_elements(const std::string& k, DType dtype) {
  std::string text = vector_type(dtype);
  for (const char component : {'x', 'y', 'z', 'w'})
    text += std::string(component == 'x' ? "(" : ", ") + "element_" + k + "(at." + component + ")";
  return text + ")";
}

std::string packed_text(DType dtype, const std::string& value) {
  const std::string_view packing = layout_of(dtype).packing;
  return packing.empty() ? value : "packed_" + std::string(packing) + "(" + value + ")";
}

}  // namespace tessera::webgpu
