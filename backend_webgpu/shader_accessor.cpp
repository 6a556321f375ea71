// webgpu::shader_accessor
#include "core/kernel/shader_accessor.h"

#include "backend_webgpu/element_text.h"
#include "core/base/fail.h"
#include "core/kernel/shader_names.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {

std::string shader_accessor(const Tensor& tensor, std::string_view name, int group, int binding) {
  constexpr std::string_view op = "webgpu::shader_accessor";
  check_accessor_name(op, "WGSL", name, fault_of_wgsl_name(name));
  if (group < 0 || binding < 0)
    fail(ErrorCode::invalid_argument, op,
         "group " + std::to_string(group) + " and binding " + std::to_string(binding) + " are not both 0 or more.");
  const std::uint64_t first = data_to_gpu(tensor).offset / size_of(tensor.dtype());
  const std::string accessor(name), buffer = accessor + "_elements";
  const std::string at = first == 0 ? "i" : "i + " + std::to_string(first) + "u";
  const ElementText element = element_text(tensor.dtype(), buffer, at);
  const IndexText index = index_text(accessor, tensor.shape(), {"", ": u32", "u"});
  const std::string value(element.value);
  return "@group(" + std::to_string(group) + ") @binding(" + std::to_string(binding) + ") var<storage, read> " +
         buffer + ": array<" + std::string(element.word) + ">;\nfn " + accessor + "(i: u32) -> " + value +
         " { return " + element.expression + "; }\nfn " + accessor + "_at(" + index.parameters + ") -> " + value +
         " { return " + accessor + "(" + index.element + "); }\n";
}

}  // namespace tessera::webgpu
