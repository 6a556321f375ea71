// gles::shader_accessor
#include "backend_gles/interop.h"
#include "backend_gles/shader.h"
#include "core/shader_names.h"

namespace tessera::gles {
namespace {

void check_name(std::string_view name) {
  if (const std::string fault = fault_of_glsl_function(name); !fault.empty())
    throw Error(ErrorCode::invalid_argument,
                "shader_accessor: \"" + std::string(name) + "\" is no name for GLSL: it " + fault + ".");
}

// Names of the indices: those of an image, or of a batch of them, as far as they go. They begin with the accessor's own
// name, so that none of them can be it.
std::vector<std::string> index_names(const std::string& name, std::size_t rank) {
  static constexpr const char* images[] = {"n", "y", "x", "c"};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rank; ++i)
    names.push_back(name + "_" +
                    (rank == 2   ? images[i + 1]
                     : rank == 3 ? images[i + 1]
                     : rank == 4 ? images[i]
                                 : "i" + std::to_string(i)));
  return names;
}

}  // namespace

std::string shader_accessor(const Tensor& tensor, std::string_view name_given) {
  const NodeInfo& node = TensorAccess::info(tensor);
  {
    const LockedContext context(tensor);
    backend_of("shader_accessor", *context);
  }
  check_name(name_given);
  const std::string name(name_given), texture = name + "_texture", scalar = is_float(node.dtype) ? "float" : "int";
  std::string text = "// " + name + ": a tensor of " + node.shape.to_string() + " " +
                     std::string(to_string(node.dtype)) + ".\nuniform highp " + std::string(sampler_type(node.dtype)) +
                     " " + texture + ";\n";
  text += "highp " + scalar + " " + name + "(highp int i) {\n  highp int width = textureSize(" + texture +
          ", 0).x, texel = i >> 2;\n  return " + scalar + "(texelFetch(" + texture +
          ", ivec2(texel % width, texel / width), 0)[i & 3]);\n}\n";

  const std::vector<std::string> indices = index_names(name, node.shape.dims().size());
  std::string parameters, element = "0";
  for (std::size_t i = 0; i < indices.size(); ++i) {
    parameters += (i == 0 ? "highp int " : ", highp int ") + indices[i];
    element = i == 0 ? indices[0] : "(" + element + ") * " + std::to_string(node.shape.dims()[i]) + " + " + indices[i];
  }
  return text + "highp " + scalar + " " + name + "_at(" + parameters + ") { return " + name + "(" + element + "); }\n";
}

}  // namespace tessera::gles
