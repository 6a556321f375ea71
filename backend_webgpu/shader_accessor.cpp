#include "backend_webgpu/element_text.h"
#include "backend_webgpu/backend.h"
#include "backend_webgpu/storage.h"
#include "core/shader_names.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view accessor_op = "webgpu::shader_accessor";

void check_name(std::string_view name) {
  if (const std::string fault = fault_of_wgsl_name(name); !fault.empty())
    refuse(accessor_op, ErrorCode::invalid_argument,
           "\"" + std::string(name) + "\" cannot be the name of a WGSL function: it " + fault + ".");
}

// What the axes are called: those of images first, from the last one on. They begin with the accessor's own name, so
// that none of them can be it.
std::vector<std::string> axis_names(const std::string& name, int rank) {
  std::vector<std::string> names;
  if (rank <= 2) names = rank == 2 ? std::vector<std::string>{"y", "x"} : std::vector<std::string>(rank == 1, "x");
  else names = {"n", "y", "x", "c"};
  if (rank == 3) names.erase(names.begin());
  for (int more = 4; more < rank; ++more) names.insert(names.begin(), "n" + std::to_string(more - 3));
  for (std::string& axis : names) axis = name + "_" + axis;
  return names;
}

}  // namespace

std::string shader_accessor(const Tensor& tensor, std::string_view name_view, int group, int binding) {
  check_name(name_view);
  if (group < 0 || binding < 0)
    refuse(accessor_op, ErrorCode::invalid_argument,
           "group " + std::to_string(group) + " and binding " + std::to_string(binding) + " are not both 0 or more.");
  const GpuData data = data_to_gpu(tensor);
  const std::uint64_t first = data.offset / size_of(tensor.dtype());
  const std::string name(name_view), buffer = name + "_elements";
  const std::string at = first == 0 ? "i" : "i + " + std::to_string(first) + "u";
  const ElementText element = element_text(tensor.dtype(), buffer, at);

  const Shape& shape = tensor.shape();
  const std::vector<std::string> axes = axis_names(name, shape.rank());
  std::string parameters, index;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    parameters += (axis == 0 ? "" : ", ") + axes[axis] + ": u32";
    index = axis == 0 ? axes[0]
                      : "(" + index + ") * " + std::to_string(shape[static_cast<int>(axis)]) + "u + " + axes[axis];
  }
  const std::string value(element.value);
  std::string text = "@group(" + std::to_string(group) + ") @binding(" + std::to_string(binding) +
                     ") var<storage, read> " + buffer + ": array<" + std::string(element.word) + ">;\n";
  text += "fn " + name + "(i: u32) -> " + value + " { return " + element.expression + "; }\n";
  text += "fn " + name + "_at(" + parameters + ") -> " + value + " { return " + name + "(" +
          (index.empty() ? "0u" : index) + "); }\n";
  return text;
}

}  // namespace tessera::webgpu
