// Pipelines in which pixels look at their neighbours.
#include "bench/frames/images.h"
#include "bench/frames/pipeline.h"
#include "bench/frames/taps.h"

namespace tessera::bench {
namespace {

Pipeline gaussian(const Setting& setting, const std::vector<float>& weights) {
  return {
      .sources = {frame_of(setting)},
      .between = {{"rows", setting.size}},
      .targets = {{"screen", setting.size}},
      .tensors = [weights](Context&,
                           Tensors in) { return std::vector{separable_filter(in[0], weights, weights, Border::edge)}; },
      .passes = {blurring_pass("frame", "rows", weights, Along::width),
                 blurring_pass("rows", "screen", weights, Along::height)}};
}
Pipeline gaussian_5(const Setting& setting) { return gaussian(setting, gaussian_weights(2, 1)); }
Pipeline gaussian_15(const Setting& setting) { return gaussian(setting, gaussian_weights(7, 2.5f)); }

// How steep the brightness is, in grey.
Pipeline sobel_magnitude(const Setting& setting) {
  return {.sources = {frame_of(setting)},
          .targets = {{"screen", setting.size}},
          .tensors =
              [](Context& gpu, Tensors in) {
                const Tensor weights = gpu.tensor({1, 3}, {0.2126f, 0.7152f, 0.0722f});
                const Gradient gradient = sobel(colour_matrix(rgb_of(in[0]), weights), Border::edge);
                return std::vector{sqrt(square(gradient.x) + square(gradient.y))};
              },
          .passes = {{.reads = {"frame"},
                      .writes = {"screen"},
                      .wgsl = R"(
fn light(at: vec2i) -> f32 { return dot(frame_near(at).rgb, vec3f(0.2126, 0.7152, 0.0722)); }
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let at = vec2i(p.xy);
  let a = light(at + vec2i(-1, -1)); let b = light(at + vec2i(0, -1)); let c = light(at + vec2i(1, -1));
  let d = light(at + vec2i(-1, 0)); let f = light(at + vec2i(1, 0));
  let g = light(at + vec2i(-1, 1)); let h = light(at + vec2i(0, 1)); let i = light(at + vec2i(1, 1));
  let gradient = vec2f(c - a + 2.0 * (f - d) + i - g, g - a + 2.0 * (h - b) + i - c);
  return vec4f(vec3f(length(gradient)), 1.0);
})",
                      .glsl = R"(
float light(ivec2 at) { return dot(frame_near(at).rgb, vec3(0.2126, 0.7152, 0.0722)); }
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  float a = light(at + ivec2(-1, -1)), b = light(at + ivec2(0, -1)), c = light(at + ivec2(1, -1));
  float d = light(at + ivec2(-1, 0)), f = light(at + ivec2(1, 0));
  float g = light(at + ivec2(-1, 1)), h = light(at + ivec2(0, 1)), i = light(at + ivec2(1, 1));
  vec2 gradient = vec2(c - a + 2.0 * (f - d) + i - g, g - a + 2.0 * (h - b) + i - c);
  to_screen = vec4(vec3(length(gradient)), 1.0);
})"}}};
}

// More of what a small blur takes away.
Pipeline sharpen(const Setting& setting) {
  return {.sources = {frame_of(setting)},
          .targets = {{"screen", setting.size}},
          .tensors =
              [](Context&, Tensors in) {
                const std::vector<float> weights{0.25f, 0.5f, 0.25f};
                const Tensor smooth = separable_filter(in[0], weights, weights, Border::edge);
                return std::vector{in[0] + (in[0] - smooth) * 1.5};
              },
          .passes = {{.reads = {"frame"},
                      .writes = {"screen"},
                      .wgsl = R"(
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let at = vec2i(p.xy);
  let corners = frame_near(at + vec2i(-1, -1)) + frame_near(at + vec2i(1, -1)) + frame_near(at + vec2i(-1, 1)) +
                frame_near(at + vec2i(1, 1));
  let sides = frame_near(at + vec2i(0, -1)) + frame_near(at + vec2i(0, 1)) + frame_near(at + vec2i(-1, 0)) +
              frame_near(at + vec2i(1, 0));
  return shown(frame_at(at) * (1.0 + 1.5 * 0.75) - sides * (1.5 * 0.125) - corners * (1.5 * 0.0625));
})",
                      .glsl = R"(
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  pixel corners = frame_near(at + ivec2(-1, -1)) + frame_near(at + ivec2(1, -1)) + frame_near(at + ivec2(-1, 1)) +
                  frame_near(at + ivec2(1, 1));
  pixel sides = frame_near(at + ivec2(0, -1)) + frame_near(at + ivec2(0, 1)) + frame_near(at + ivec2(-1, 0)) +
                frame_near(at + ivec2(1, 0));
  to_screen = shown(frame_at(at) * (1.0 + 1.5 * 0.75) - sides * (1.5 * 0.125) - corners * (1.5 * 0.0625));
})"}}};
}

// The mean over 5 x 5 neighbours, in which those far away and those of another colour count little.
Pipeline bilateral(const Setting& setting) {
  return {.sources = {frame_of(setting)},
          .targets = {{"screen", setting.size}},
          .tensors =
              [](Context&, Tensors in) {
                const Tensor& frame = in[0];
                const Tensor wider = pad(frame, {{2, 2}, {2, 2}, {0, 0}}, PadMode::edge);
                Tensor total = frame, weights;
                for (int y = -2; y <= 2; ++y)
                  for (int x = -2; x <= 2; ++x) {
                    if (x == 0 && y == 0) continue;  // the pixel itself, whose weight is 1
                    const Tensor neighbour =
                        slice(wider, {y + 2, x + 2, 0}, {height_of(frame), width_of(frame), frame.shape()[2]});
                    const Tensor distance = sum(square(neighbour - frame), {.axes = {2}, .keep_dims = true});
                    const Tensor weight = exp(distance * -30.0 - 0.125 * (x * x + y * y));
                    total = total + neighbour * weight;
                    weights = weights.is_empty() ? weight + 1.0 : weights + weight;
                  }
                return std::vector{total / weights};
              },
          .passes = {{.reads = {"frame"},
                      .writes = {"screen"},
                      .wgsl = R"(
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let at = vec2i(p.xy);
  let middle = frame_at(at);
  var total = pixel();
  var weights = 0.0;
  for (var y = -2; y <= 2; y++) {
    for (var x = -2; x <= 2; x++) {
      let neighbour = frame_near(at + vec2i(x, y));
      let difference = neighbour - middle;
      let weight = exp(dot(difference, difference) * -30.0 - 0.125 * f32(x * x + y * y));
      total += neighbour * weight;
      weights += weight;
    }
  }
  return shown(total / weights);
})",
                      .glsl = R"(
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  pixel middle = frame_at(at), total = pixel(0.0);
  float weights = 0.0;
  for (int y = -2; y <= 2; ++y)
    for (int x = -2; x <= 2; ++x) {
      pixel neighbour = frame_near(at + ivec2(x, y)), difference = neighbour - middle;
      float weight = exp(dot(difference, difference) * -30.0 - 0.125 * float(x * x + y * y));
      total += neighbour * weight;
      weights += weight;
    }
  to_screen = shown(total / weights);
})"}}};
}

}  // namespace

std::vector<Entry> filter_pipelines() {
  return {{"gaussian_5", gaussian_5},
          {"gaussian_15", gaussian_15},
          {"sobel", sobel_magnitude},
          {"sharpen", sharpen},
          {"bilateral", bilateral}};
}

}  // namespace tessera::bench
