#include "backend_gles/element_text.h"

#include "backend_gles/shader.h"

namespace tessera::gles {

std::string scalar_type(DType dtype) { return is_float(dtype) ? "float" : "int"; }

std::string element_text(DType dtype, const std::string& function, const std::string& texture,
                         const std::string& precision) {
  const std::string scalar = scalar_type(dtype);
  return "uniform " + precision + std::string(sampler_type(dtype)) + " " + texture + ";\n" + precision + scalar + " " +
         function + "(" + precision + "int i) {\n  " + precision + "int width = textureSize(" + texture +
         ", 0).x, texel = i >> 2;\n  return " + scalar + "(texelFetch(" + texture +
         ", ivec2(texel % width, texel / width), 0)[i & 3]);\n}\n";
}

}  // namespace tessera::gles
