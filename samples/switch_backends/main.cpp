// Tensors and a Program that stay alive while their context moves from backend to backend and loses its device.
#include <algorithm>
#include <cstdio>
#include <exception>

#include <tessera/testing.h>
#include <tessera/tessera.h>

namespace {

using tessera::BackendKind;

bool has_device(BackendKind kind) {
  const auto devices = tessera::Context::devices();
  return std::ranges::any_of(devices, [&](const tessera::DeviceInfo& device) { return device.backend == kind; });
}

void print(const char* what, const std::vector<float>& values, int divided_by = 1) {
  std::printf("  %s:", what);
  for (const float value : values) std::printf(" %g", value / static_cast<float>(divided_by));
  std::printf("\n");
}

}  // namespace

int main() {
  try {
    auto gpu = tessera::Context::create();  // WebGPU, where there is one
    const tessera::Tensor input = gpu.tensor({6}, {1, 2, 3, 4, 5, 6});
    const tessera::Tensor gain = (gpu.full({6}, 1) / 2.0f).compute();
    const auto program = tessera::Program::record(
        gpu, {{{6}}}, [&](std::span<const tessera::Tensor> in) { return std::vector{cumsum(in[0]) * gain}; });
    tessera::Tensor total = gpu.zeros({6});  // of all runs, wherever they were
    int runs = 0;

    const auto run_and_print = [&](const char* what_happened) {
      const tessera::Tensor result = program.run({input})[0];
      total = (total + result).compute();
      std::printf("%s: %s%s\n", std::string(to_string(gpu.backend())).c_str(), gpu.device().driver.c_str(),
                  what_happened);
      print("the program gives", result.read());
      print("the mean of all runs is", total.read(), ++runs);
    };

    run_and_print("");
    for (const BackendKind next : {BackendKind::gles, BackendKind::cpu, BackendKind::webgpu}) {
      if (!has_device(next)) continue;
      gpu.switch_backend(next);  // everything above comes along
      run_and_print("");
    }
    tessera::testing::lose_device(gpu);  // as if the driver had reset
    run_and_print(", after its device was lost");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "switch_backends: %s\n", error.what());
    return 1;
  }
}
