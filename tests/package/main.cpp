// What a project that uses tessera does: prints the devices and checks one result on each of them.
#include <cstdio>
#include <string>
#include <vector>

#include <tessera/tessera.h>

int main() {
  int failures = 0;
  for (const tessera::DeviceInfo& device : tessera::Context::devices()) {
    tessera::Context context = tessera::Context::create({.prefer = {device.backend}, .driver = device.driver});
    const tessera::Tensor x = context.tensor({3}, {-1, 0, 2});
    const bool right = relu(x * 2.0f + 1.0f).read() == std::vector<float>{0, 1, 5};
    std::printf("%s: %s, %s\n", std::string(to_string(device.backend)).c_str(), device.driver.c_str(),
                right ? "right" : "wrong");
    failures += right ? 0 : 1;
  }
  return failures;
}
