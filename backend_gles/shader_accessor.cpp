// gles::shader_accessor
#include "core/kernel/shader_accessor.h"

#include "backend_gles/backend.h"
#include "backend_gles/element_text.h"
#include "core/interop/backend_of.h"
#include "core/kernel/shader_names.h"

namespace tessera::gles {

std::string shader_accessor(const Tensor& tensor, std::string_view name) {
  constexpr std::string_view op = "gles::shader_accessor";
  const std::string precision = [&] {
    const LockedContext locked(tensor);
    ContextState& context = *locked;
    return backend_of<GlesBackend>(op, context).own_device()->is_desktop() ? "" : "highp ";
  }();
  check_accessor_name(op, "GLSL", name, fault_of_glsl_function(name));
  const std::string accessor(name);
  const IndexText index = index_text(accessor, tensor.shape(), {precision + "int ", "", ""});
  return "// " + accessor + ": a tensor of " + tensor.shape().to_string() + " " +
         std::string(to_string(tensor.dtype())) + ".\n" +
         element_text(tensor.dtype(), accessor, accessor + "_texture", precision) + precision +
         scalar_type(tensor.dtype()) + " " + accessor + "_at(" + index.parameters + ") { return " + accessor + "(" +
         index.element + "); }\n";
}

}  // namespace tessera::gles
