#include "bench/frames/taps.h"

#include <cmath>
#include <cstdio>

namespace tessera::bench {

std::vector<float> gaussian_weights(int radius, float sigma) {
  std::vector<float> weights;
  float total = 0;
  for (int i = -radius; i <= radius; ++i)
    total += weights.emplace_back(std::exp(-0.5f * static_cast<float>(i * i) / (sigma * sigma)));
  for (float& weight : weights) weight /= total;
  return weights;
}

Pass blurring_pass(const std::string& from, const std::string& to, const std::vector<float>& weights, Along along,
                   const std::string& reader) {
  const int radius = static_cast<int>(weights.size()) / 2;
  const auto sum = [&](const char* pair) {
    std::string terms;
    for (int i = -radius; i <= radius; ++i) {
      char term[64];
      std::snprintf(term, sizeof term, along == Along::width ? "(%d, 0)) * %.9f" : "(0, %d)) * %.9f", i,
                    static_cast<double>(weights[static_cast<std::size_t>(i + radius)]));
      terms += (terms.empty() ? "" : "\n    + ") + from + "_" + reader + "(at + " + pair + term;
    }
    return terms;
  };
  return {.reads = {from},
          .writes = {to},
          .wgsl = R"(
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let at = vec2i(p.xy);
  return shown()" +
                  sum("vec2i") + ");\n}\n",
          .glsl = R"(
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  to_)" + to + " = shown(" +
                  sum("ivec2") + ");\n}\n"};
}

}  // namespace tessera::bench
