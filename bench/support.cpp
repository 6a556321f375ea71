#include "bench/support.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

namespace tessera::bench {
namespace {

struct Device {
  std::string label;  // "webgpu/llvmpipe", "gles/ANGLE_on_lavapipe"
  ContextOptions options;
};
std::vector<Device> devices;

// A GPU's name says what it is on WebGPU; on OpenGL ES the driver does, which may be one of several for a GPU.
std::string label_of(const DeviceInfo& info) {
  std::string label = info.backend == BackendKind::webgpu ? info.name : info.driver;
  label = label.substr(0, std::min(label.find(" ("), label.find(':')));
  for (char& c : label)
    if (c == ' ' || c == '/') c = '_';
  return std::string(to_string(info.backend)) + "/" + label;
}

// The best GPU of each backend, or all of them.
void find_devices(bool all) {
  std::set<BackendKind> found;
  for (const DeviceInfo& info : Context::devices())
    if (info.backend != BackendKind::cpu && (found.insert(info.backend).second || all))
      devices.push_back({label_of(info), {.prefer = {info.backend}, .driver = info.driver}});
}

// Opened when first used; closed before main returns, for drivers take themselves down before global variables go.
std::map<std::string, Context> contexts;

Context& context_of(const Device& device) {
  const auto found = contexts.find(device.label);
  return found != contexts.end() ? found->second
                                 : contexts.emplace(device.label, Context::create(device.options)).first->second;
}

struct Workload {
  std::vector<Operand> operands;
  Build build;
  double flops;
  bool is_program;
};

Tensor resident(Context& context, const Operand& operand, std::uint64_t seed) {
  const Tensor values = is_float(operand.dtype)
                            ? uniform(context, operand.shape, seed, operand.low, operand.high)
                            : uniform_integers(context, operand.shape, seed, static_cast<std::int32_t>(operand.low),
                                               static_cast<std::int32_t>(operand.high));
  return values.cast(operand.dtype).compute();
}

double bytes_of(const std::vector<Tensor>& tensors) {
  double bytes = 0;
  for (const Tensor& tensor : tensors)
    bytes += static_cast<double>(tensor.shape().size()) * static_cast<double>(size_of(tensor.dtype()));
  return bytes;
}

// One run, which submits its work and does not wait.
std::function<Results()> run_of(const Workload& workload, const Inputs& in) {
  if (!workload.is_program)
    return [&] {
      Results results = workload.build(in);
      in.context.compute(results);
      return results;
    };
  std::vector<TensorSpec> specs;
  for (const Operand& operand : workload.operands) specs.push_back({operand.shape, operand.dtype});
  const Program program = Program::record(in.context, specs, [&](std::span<const Tensor> tensors) {
    return workload.build({in.context, {tensors.begin(), tensors.end()}});
  });
  return [&in, program] { return program.run(in.tensors); };
}

benchmark::Counter rate(double of_one_run) {
  return benchmark::Counter(of_one_run * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void measure(benchmark::State& state, const Device& device, const Workload& workload) {
  Context& context = context_of(device);
  {
    Inputs in{context, {}};
    for (const Operand& operand : workload.operands)
      in.tensors.push_back(resident(context, operand, in.tensors.size() + 1));
    const std::function<Results()> run = run_of(workload, in);
    const double bytes = bytes_of(in.tensors) + bytes_of(run());  // and kernels are compiled now
    run();
    context.wait();
    for ([[maybe_unused]] auto _ : state) {
      const Results results = run();
      context.wait();
    }
    state.counters["GB/s"] = rate(bytes);
    if (workload.flops > 0) state.counters["GFLOP/s"] = rate(workload.flops);
  }
  context.trim();  // the next workload has other sizes
}

struct Task {
  std::function<void(Context&)> run;
  double bytes;
  double promised_seconds;
};
bool are_promises_kept = true;

void measure(benchmark::State& state, const Device& device, const Task& task) {
  Context& context = context_of(device);
  task.run(context);  // compiles
  std::chrono::duration<double> longest{};
  for ([[maybe_unused]] auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    task.run(context);
    longest = std::max<std::chrono::duration<double>>(longest, std::chrono::steady_clock::now() - begin);
  }
  const bool is_kept = longest.count() <= task.promised_seconds;
  are_promises_kept = are_promises_kept && is_kept;
  char label[128];
  std::snprintf(label, sizeof label, "%s: at most %.3g s, promised %.3g s", is_kept ? "kept" : "NOT KEPT",
                longest.count(), task.promised_seconds);
  state.SetLabel(label);
  state.counters["GB/s"] = rate(task.bytes);
  context.trim();
}

struct Frames {
  std::function<std::function<void()>(Context&)> make;
};

void measure(benchmark::State& state, const Device& device, const Frames& frames) {
  Context& context = context_of(device);
  {
    const std::function<void()> next = frames.make(context);
    for (int i = 0; i < 2; ++i) next();  // compiles
    context.wait();
    std::chrono::duration<double, std::milli> host{};
    for ([[maybe_unused]] auto _ : state) {
      const auto begin = std::chrono::steady_clock::now();
      next();
      host += std::chrono::steady_clock::now() - begin;
      context.wait();
    }
    state.counters["fps"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
    state.counters["host_ms"] = benchmark::Counter(host.count(), benchmark::Counter::kAvgIterations);
  }
  context.trim();
}

template <class Work>
void add_to_devices(const std::string& name, const Work& work) {
  for (const Device& device : devices)
    benchmark::RegisterBenchmark((name + "/" + device.label).c_str(),
                                 [device, work](benchmark::State& state) {
                                   try {
                                     measure(state, device, work);
                                   } catch (const Error& error) {
                                     state.SkipWithError(error.what());
                                   }
                                 })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
}

}  // namespace

Operand f32(const Shape& shape, float low, float high) { return {shape, DType::f32, low, high}; }
Operand f16(const Shape& shape) { return {shape, DType::f16, -1, 1}; }
Operand i8(const Shape& shape) { return {shape, DType::i8, -128, 128}; }
Operand u8(const Shape& shape) { return {shape, DType::u8, 0, 256}; }
Operand indices(const Shape& shape, std::int64_t of_elements) {
  return {shape, DType::i32, 0, static_cast<float>(of_elements)};
}

void add(const std::string& name, const std::vector<Operand>& operands, const Build& build, double flops) {
  add_to_devices(name, Workload{operands, build, flops, false});
}

void add_program(const std::string& name, const std::vector<Operand>& operands, const Build& build, double flops) {
  add_to_devices(name + "/program", Workload{operands, build, flops, true});
}

void add_task(const std::string& name, double bytes, double promised_seconds,
              const std::function<void(Context&)>& run) {
  add_to_devices(name, Task{run, bytes, promised_seconds});
}

void add_frames(const std::string& name, const std::function<std::function<void()>(Context&)>& make) {
  add_to_devices(name, Frames{make});
}

}  // namespace tessera::bench

int main(int argc, char** argv) {
  using namespace tessera::bench;
  benchmark::Initialize(&argc, argv);  // which takes its own arguments away
  const bool all = argc == 2 && std::strcmp(argv[1], "--all_devices") == 0;
  if (!all && benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  find_devices(all);
  if (devices.empty()) {
    std::fprintf(stderr, "This machine has no GPU, not even one in software: tessera finds no Vulkan and no EGL.\n");
    return 1;
  }
  add_workloads();
  benchmark::RunSpecifiedBenchmarks();
  contexts.clear();
  benchmark::Shutdown();
  return are_promises_kept ? 0 : 1;
}
