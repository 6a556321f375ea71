// Kernels of your own.
//
//   Tensor y = map_kernel("gain * a + max(b, 0)", {{"a", a}, {"b", b}, {"gain", 0.5f}});   // on every backend, and
//   fused
//
// Beyond pointwise work, a CustomKernel has its source in WGSL for WebGPU, in GLSL for OpenGL ES, or in both:
//
//   const CustomKernel dot{.name = "dot", .inputs = {"a", "b"}, .outputs = {"result"}, .wgsl = …, .glsl = …};
//   Tensor result = run_custom(gpu, dot, {.inputs = {{"a", a}, {"b", b}}, .outputs = {{"result",
//   {{1}}}}}).at("result");
//
// Like any operation it runs when its results are needed, and again where a device was lost or replaced.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tessera/context.h>
#include <tessera/program.h>

namespace tessera {

struct CustomKernel {
  std::string name;
  std::vector<std::string> inputs;  // bound in this order, then the outputs
  std::vector<std::string> outputs;
  std::vector<std::string> parameters;  // numbers that each run gives

  // A whole compute shader with the entry point main. In group 0, binding 0 and up: a `var<storage, read>` for each
  // input, a `var<storage, read_write>` for each output, and, if there are parameters, a `var<uniform>` with a struct
  // of one f32 for each. f32 and i32 are arrays of such; u8, i8 and boolean are packed in u32, four to a word, and f16
  // two to a word.
  std::string wgsl;

  // For each output a function `float OUTPUT_at(int i)` (`int` for integers) that gives its element i. It can call, for
  // each input, `INPUT_at(int i)`, and use `int INPUT_size` and each parameter as a `float` by its name.
  std::string glsl;
};

struct CustomRun {
  std::map<std::string, Tensor> inputs;
  std::map<std::string, TensorSpec> outputs;
  std::map<std::string, float> parameters{};
  std::array<std::uint32_t, 3> workgroup_count{1, 1, 1};  // of the compute shader
};

// The outputs by name. Names that do not match the kernel's are an invalid_argument here; source that the driver does
// not take is a compile_failed, with its message and the line in your text, when the outputs are needed; so is
// `unsupported` where the kernel has no source for the backend.
TESSERA_API std::map<std::string, Tensor> run_custom(Context&, const CustomKernel&, const CustomRun&);

// An expression over tensors and numbers by name, with NumPy's broadcasting: + - * /, comparisons, parentheses, numbers
// and every function of <tessera/pointwise.h> by its name (docs/ops.md lists them); min and max are minimum and
// maximum. Source that is wrong is a compile_failed with the column.
using MapArgument = std::variant<Tensor, double>;
TESSERA_API Tensor map_kernel(std::string_view expression, const std::map<std::string, MapArgument>& arguments);

}  // namespace tessera
