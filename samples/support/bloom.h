// The filter that both engines get from tessera; it knows neither of them. And what they print about it.
#pragma once
#include <algorithm>
#include <cstdio>

#include <tessera/tessera.h>

namespace sample {

// What is bright shines on what is around it. Takes and gives an image [height,width,3] of 0 to 1.
inline tessera::Tensor bloom(const tessera::Tensor& frame) {
  const int height = static_cast<int>(frame.shape()[0]), width = static_cast<int>(frame.shape()[1]);
  const tessera::Tensor bright = relu(frame - 0.5f);
  const tessera::Tensor small = resize_bilinear(bright, std::max(height / 4, 1), std::max(width / 4, 1));
  const tessera::Tensor glow = resize_bilinear(gaussian_blur(small, 3), height, width);
  return clip(frame + glow * 3.0f, 0, 1);
}

inline void print_warnings(const tessera::Message& message) {
  if (message.level >= tessera::Message::Level::warning) std::fprintf(stderr, "%s\n", message.text.c_str());
}

inline void print_costs(const tessera::Context& context) {
  const tessera::Stats stats = context.stats();
  std::printf("tessera on %s: %d submissions of its own, %d kernels compiled, %d bytes downloaded\n",
              context.device().driver.c_str(), static_cast<int>(stats.submits),
              static_cast<int>(stats.kernels_compiled), static_cast<int>(stats.bytes_downloaded));
}

}  // namespace sample
