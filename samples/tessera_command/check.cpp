// Every device against the CPU. What differs becomes a folder that somebody else can run: the inputs, both results, and
// a text with the model, the device and the command.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "work.h"

namespace command {
namespace {

namespace fs = std::filesystem;

// The largest difference, relative to the largest number of the expected output; infinite where shapes or NaNs differ.
double difference(const Elements& result, const Elements& expected) {
  if (result.shape != expected.shape) return HUGE_VAL;
  double largest = 1e-6, most = 0;
  for (const float number : expected.numbers)
    if (std::isfinite(number)) largest = std::max(largest, std::abs(static_cast<double>(number)));
  for (std::size_t i = 0; i < expected.numbers.size(); ++i) {
    const double a = result.numbers[i], b = expected.numbers[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double apart = std::abs(a - b) / largest;
    most = std::max(most, std::isnan(apart) ? HUGE_VAL : apart);
  }
  return most;
}

void write_all(const fs::path& folder, const Outputs& all) {
  fs::create_directories(folder);
  Options options;
  options.out = folder.string();
  write(all, options);
}

std::string write_repro(const Options& options, const Inputs& inputs, const tessera::DeviceInfo& device,
                        const Outputs& result, const Outputs& expected) {
  const std::string stem = "tessera_repro_" + std::string(to_string(device.backend));
  fs::path folder = fs::path(options.out) / stem;
  for (int i = 2; fs::exists(folder); ++i) folder = fs::path(options.out) / (stem + "_" + std::to_string(i));
  write_all(folder / "inputs", inputs);
  write_all(folder / "result", result);
  write_all(folder / "expected", expected);
  std::ofstream text(folder / "README.txt");
  text << "model:  " << fs::absolute(options.model).string() << "\ndevice: " << device.name
       << "\ndriver: " << device.driver << "\nrun:    tessera run " << options.model << " --check";
  for (const auto& [name, elements] : inputs) text << " --input " << name << "=inputs/" << name << ".npy";
  text << "\n";
  if (!text.flush()) throw std::runtime_error("cannot write " + folder.string());
  return folder.string();
}

Outputs results_on(const tessera::ContextOptions& device, const Options& options, const Inputs& inputs) {
  auto context = tessera::Context::create(device);
  const auto model = tessera::Model::load(context, options.model);
  return outputs_of(model, on(context, inputs));
}

}  // namespace

int check(const Options& options, const Inputs& inputs) {
  const Outputs expected = results_on({.prefer = {tessera::BackendKind::cpu}}, options, inputs);
  int failures = 0;
  for (const tessera::DeviceInfo& device : tessera::Context::devices()) {
    const bool is_asked = !options.backend || device.backend == *options.backend;
    const bool is_named = (device.name + device.driver).find(options.driver) != std::string::npos;
    if (device.backend == tessera::BackendKind::cpu || !is_asked || !is_named) continue;
    std::printf("%-6s %s: ", std::string(to_string(device.backend)).c_str(), device.name.c_str());
    std::fflush(stdout);
    try {
      const Outputs result = results_on({.prefer = {device.backend}, .driver = device.driver}, options, inputs);
      double most = 0;
      for (const auto& [name, elements] : expected) most = std::max(most, difference(result.at(name), elements));
      const bool agrees = most <= static_cast<double>(options.tolerance);
      std::printf("%s, %g apart\n", agrees ? "agrees" : "DIFFERS", most);
      if (agrees) continue;
      std::printf("       %s has all of it\n", write_repro(options, inputs, device, result, expected).c_str());
    } catch (const tessera::Error& error) {
      std::printf("FAILED: %s\n", error.what());
    }
    ++failures;
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace command
