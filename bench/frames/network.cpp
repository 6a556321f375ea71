// A small network over frames, of as many channels as frames have, such as those that sharpen or upscale videos.
#include <random>

#include "bench/frames/images.h"
#include "bench/frames/pipeline.h"

namespace tessera::bench {
namespace {

// Of a layer: [3,3,in,out] weights.
std::vector<float> weights_of(int channels, unsigned layer) {
  std::mt19937 random(layer);
  std::uniform_real_distribution<float> small(-0.06f, 0.08f);
  std::vector<float> weights(static_cast<std::size_t>(9 * channels * channels));
  for (float& weight : weights) weight = small(random);
  return weights;
}

// The sum of a layer at `at`, as statements that spell all weights out.
std::string sum_of(const std::string& from, const std::vector<float>& weights, int channels, bool is_wgsl) {
  const std::string type = (is_wgsl ? "vec" + std::to_string(channels) + "f" : "vec" + std::to_string(channels));
  const std::string place = is_wgsl ? "vec2i" : "ivec2";
  std::string text = is_wgsl ? "  var p: pixel; var s = pixel();\n" : "  pixel p, s = pixel(0.0);\n";
  std::size_t next = 0;
  for (int y = -1; y <= 1; ++y)
    for (int x = -1; x <= 1; ++x) {
      text +=
          "  p = " + from + "_near(at + " + place + "(" + std::to_string(x) + ", " + std::to_string(y) + "));\n  s += ";
      for (int in = 0; in < channels; ++in) {
        text += std::string(in ? " + " : "") + "p." + "xyzw"[in] + " * " + type + "(";
        for (int out = 0; out < channels; ++out) text += (out ? ", " : "") + std::to_string(weights[next++]);
        text += ")";
      }
      text += ";\n";
    }
  return text;
}

Pass layer(const std::vector<std::string>& reads, const std::string& to, const std::vector<float>& weights,
           int channels, const std::string& wgsl_result, const std::string& glsl_result) {
  return {.reads = reads,
          .writes = {to},
          .wgsl =
              "@fragment fn main(@builtin(position) position: vec4f) -> @location(0) vec4f {\n  let at = "
              "vec2i(position.xy);\n" +
              sum_of(reads[0], weights, channels, true) + "  return shown(" + wgsl_result + ");\n}",
          .glsl = "void main() {\n  ivec2 at = ivec2(gl_FragCoord.xy);\n" + sum_of(reads[0], weights, channels, false) +
                  "  to_" + to + " = shown(" + glsl_result + ");\n}"};
}

Pipeline network(const Setting& setting) {
  const int channels = setting.channels;
  const std::vector<float> first = weights_of(channels, 1), second = weights_of(channels, 2);
  return {.sources = {frame_of(setting)},
          .between = {{"hidden", setting.size}},
          .targets = {{"screen", setting.size}},
          .tensors =
              [=](Context& gpu, Tensors in) {
                const auto convolved = [&](const Tensor& image, const std::vector<float>& weights) {
                  return conv2d(pad(image, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}, PadMode::edge),
                                gpu.tensor({3, 3, channels, channels}, weights));
                };
                const Tensor frame = in[0].reshape({1, height_of(in[0]), width_of(in[0]), channels});
                return std::vector{(frame + convolved(relu(convolved(frame, first)), second)).reshape(in[0].shape())};
              },
          .passes = {layer({"frame"}, "hidden", first, channels, "max(s, pixel())", "max(s, pixel(0.0))"),
                     layer({"hidden", "frame"}, "screen", second, channels, "s + frame_at(at)", "s + frame_at(at)")}};
}

}  // namespace

std::vector<Entry> network_pipelines() { return {{"network", network}}; }

}  // namespace tessera::bench
