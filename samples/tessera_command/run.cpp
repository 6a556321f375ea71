#include <algorithm>
#include <chrono>
#include <cstdio>

#include "work.h"
#include <tessera/monitor.h>

namespace command {
namespace {

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void print_times(tessera::Context& context, const tessera::Model& model,
                 const std::map<std::string, tessera::Tensor>& inputs, int runs) {
  const auto once = [&] {
    std::vector<tessera::Tensor> results;
    for (const auto& [name, tensor] : model(inputs)) results.push_back(tensor);
    context.compute(results);
  };
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    once();
    context.wait();
    times.push_back(milliseconds_since(begin));
  }
  std::sort(times.begin(), times.end());
  std::printf("%.2f ms, the median of %d runs, %.2f to %.2f\n", times[times.size() / 2], runs, times.front(),
              times.back());
  // With a monitor each kernel is a pass of its own, so that this is apart from measuring.
  tessera::Monitor monitor(context);
  for (int i = 0; i < runs; ++i) once();
  for (const tessera::TimeStats& kernel : monitor.report({.wait = true}).kernels)
    std::printf("%10.3f ms %4g x %s\n", kernel.total / runs, static_cast<double>(kernel.count) / runs,
                kernel.name.c_str());
}

}  // namespace

tessera::Context context_of(const Options& options) {
  tessera::ContextOptions of_context{.driver = options.driver};
  if (options.backend) of_context.prefer = {*options.backend};
  return tessera::Context::create(of_context);
}

Outputs outputs_of(const tessera::Model& model, const std::map<std::string, tessera::Tensor>& inputs) {
  Outputs outputs;
  for (const auto& [name, tensor] : model(inputs)) outputs.emplace(name, read_elements(tensor));
  return outputs;
}

int run(const Options& options) {
  auto context = context_of(options);
  auto begin = std::chrono::steady_clock::now();
  const auto model = tessera::Model::load(context, options.model);
  std::printf("%s on %s, loaded in %.1f ms\n", model.name().c_str(), context.device().name.c_str(),
              milliseconds_since(begin));
  const Inputs inputs = inputs_of(model, options);
  if (options.checks) return check(options, inputs);
  const auto tensors = on(context, inputs);
  begin = std::chrono::steady_clock::now();
  const Outputs outputs = outputs_of(model, tensors);
  std::printf("first result after %.1f ms\n", milliseconds_since(begin));
  for (const auto& [name, elements] : outputs) print(name, elements, options.top);
  write(outputs, options);
  print_times(context, model, tensors, options.runs);
  return 0;
}

}  // namespace command
