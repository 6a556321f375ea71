// Kernels of your own.
//
//   Tensor y = map_kernel("gain * a + max(b, 0)", {{"a", a}, {"b", b}, {"gain", 0.5f}});  // everywhere, and fused
//
// Beyond pointwise work, a CustomKernel has its source in WGSL for WebGPU, in GLSL for OpenGL ES, as a function for the
// CPU, or in several of these:
//
//   const CustomKernel dot{.name = "dot", .inputs = {"a", "b"}, .outputs = {"result"}, .wgsl = …, .glsl = …};
//   const DefinedKernel defined = define_kernel(gpu, dot);  // checks and compiles: errors of the source come from here
//   Tensor result = defined.run({.inputs = {{"a", a}, {"b", b}}, .outputs = {{"result", {{1}}}}}).at("result");
//
// Like any operation it runs when its results are needed, and again where a device was lost or replaced.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tessera/context.h>
#include <tessera/program.h>

namespace tessera {

// An input or an output of a kernel: "a" or, where the kernel takes one type only, {"a", DType::i32}.
struct KernelTensor {
  KernelTensor(const char* tensor_name) : name(tensor_name) {}
  KernelTensor(std::string tensor_name) : name(std::move(tensor_name)) {}
  KernelTensor(std::string tensor_name, DType tensor_dtype) : name(std::move(tensor_name)), dtype(tensor_dtype) {}

  std::string name;
  std::optional<DType> dtype;
};

struct CpuCall;

// The arguments of a kernel's function for the CPU. The elements of a tensor come in row-major order, as the tensor's
// own type: another T is a dtype_mismatch, and a name that the kernel has not is a not_found.
class TESSERA_API CpuArguments {
 public:
  template <Element T = float>
  std::span<const T> input(std::string_view name) const {
    return elements<const T>(input_bytes(name, dtype_of<T>()));
  }
  template <Element T = float>
  std::span<T> output(std::string_view name) const {  // zero at first
    return elements<T>(output_bytes(name, dtype_of<T>()));
  }
  const Shape& shape(std::string_view name) const;  // of an input or an output
  float parameter(std::string_view name) const;

  explicit CpuArguments(CpuCall& call) : call_(call) {}  // for tessera itself

 private:
  template <class T>
  static std::span<T> elements(std::span<std::byte> bytes) {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  std::span<std::byte> input_bytes(std::string_view name, DType) const;
  std::span<std::byte> output_bytes(std::string_view name, DType) const;

  CpuCall& call_;
};

struct CustomKernel {
  std::string name;
  std::vector<KernelTensor> inputs;  // bound in this order, then the outputs
  std::vector<KernelTensor> outputs;
  std::vector<std::string> parameters;  // numbers that each run gives

  // A whole compute shader with the entry point main. In group 0, binding 0 and up: a `var<storage, read>` for each
  // input, a `var<storage, read_write>` for each output, and, if there are parameters, a `var<uniform>` with a struct
  // of one f32 for each. f32 and i32 are arrays of such; u8, i8 and boolean are packed in u32, four to a word, and f16
  // two to a word. A tensor of another type than its `array<f32>` or `array<i32>` is refused; `array<u32>` takes the
  // words of any.
  std::string wgsl;

  // For each output a function `float OUTPUT_at(int i)` (`int` for integers) that gives its element i. It can call, for
  // each input, `INPUT_at(int i)`, and use `int INPUT_size` and each parameter as a `float` by its name (a parameter
  // called INPUT_size hides the other). Names that begin with `tessera_` are tessera's.
  std::string glsl;

  // Replaces the values of `override workgroup_size_x: u32`, `…_y` and `…_z`, which the WGSL has for its
  // `@workgroup_size(workgroup_size_x, …)`. All zero: they are as the WGSL says.
  std::array<std::uint32_t, 3> workgroup_size{};

  // Runs on the cpu backend, and on backends without source: tessera waits for the device there, and copies inputs and
  // outputs. The context is locked while it runs, so that it cannot use the context's tensors.
  std::function<void(const CpuArguments&)> cpu{};
};

struct CustomRun {
  std::map<std::string, Tensor> inputs;
  std::map<std::string, TensorSpec> outputs;
  std::map<std::string, float> parameters{};
  std::array<std::uint32_t, 3> workgroup_count{1, 1, 1};  // of the compute shader, each at least 1
};

struct DefineOptions {
  // Returns at once; DefinedKernel::wait() throws the errors of the source. Where no other thread may compile, in a
  // page and in a host's GL context, wait() or the first run does so.
  bool in_background = false;
};

struct DefinedKernelImpl;

// A handle on a kernel that is checked and compiled; any thread may use it. It keeps its context alive, and so does a
// compilation that is under way.
class TESSERA_API DefinedKernel {
 public:
  // The outputs by name; elements that the kernel does not write are zero. Names that do not match the kernel's are an
  // invalid_argument here, and types that do not are a dtype_mismatch.
  std::map<std::string, Tensor> run(const CustomRun&) const;

  void wait() const;  // until it is compiled; throws what define_kernel would have thrown

 private:
  friend TESSERA_API DefinedKernel define_kernel(Context&, const CustomKernel&, const DefineOptions&);
  explicit DefinedKernel(std::shared_ptr<const DefinedKernelImpl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const DefinedKernelImpl> impl_;
};

// Checks the kernel and compiles it for the device of the context; another device that takes its place compiles it when
// it is first needed there. Source that the driver does not take is a compile_failed with its message and the line in
// your text; a kernel that has nothing for this device is `unsupported`. GLSL is compiled for the types that inputs and
// outputs declare, here or in the WGSL, or else for f32; a run with others compiles it again.
TESSERA_API DefinedKernel define_kernel(Context&, const CustomKernel&, const DefineOptions& = {});

// Runs a kernel without defining it: checks it here, and compiles it when its outputs are needed, unless it was before.
TESSERA_API std::map<std::string, Tensor> run_custom(Context&, const CustomKernel&, const CustomRun&);

// An expression over tensors and numbers by name, with NumPy's broadcasting: + - * /, comparisons, parentheses, numbers
// and every function of <tessera/pointwise.h> by its name (docs/ops.md lists them); min and max are minimum and
// maximum. Wrong source is a compile_failed with the column.
using MapArgument = std::variant<Tensor, double>;
TESSERA_API Tensor map_kernel(std::string_view expression, const std::map<std::string, MapArgument>& arguments);

}  // namespace tessera
