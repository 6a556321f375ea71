// Lists the devices that tessera can use here, and runs the same small computation on each of them.
#include <cstdio>
#include <exception>

#include <tessera/tessera.h>

int main() {
  const auto devices = tessera::Context::devices();
  int failures = 0;
  for (const tessera::DeviceInfo& device : devices) {
    std::printf("%-6s  %s (%s)\n", std::string(to_string(device.backend)).c_str(), device.name.c_str(),
                device.driver.c_str());
    try {
      auto context = tessera::Context::create({.prefer = {device.backend}, .driver = device.driver});
      tessera::Tensor x = context.tensor({2, 3}, {-3, -2, -1, 1, 2, 3});
      tessera::Tensor bias = context.tensor({3}, {0.5f, 1.0f, 1.5f});
      tessera::Tensor y = relu(x * 2.0f + bias);  // nothing has run yet
      std::printf("        relu(x * 2 + bias) =");
      for (const float value : y.read()) std::printf(" %g", value);
      const tessera::Stats stats = context.stats();
      std::printf("   in %d dispatch\n", static_cast<int>(stats.dispatches));
    } catch (const std::exception& error) {
      std::printf("        failed: %s\n", error.what());
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}
