// Pipelines of several passes.
#include <algorithm>

#include "bench/frames/images.h"
#include "bench/frames/pipeline.h"
#include "bench/frames/taps.h"
#include "samples/support/bloom.h"

namespace tessera::bench {
namespace {

// The filter of the samples' engines: down to a quarter of the width and the height, blurred, up again and added.
Pipeline bloom(const Setting& setting) {
  const Size small{std::max(setting.size.width / 4, 1), std::max(setting.size.height / 4, 1)};
  const std::vector<float> weights = gaussian_weights(9, 3);
  return {.sources = {frame_of(setting)},
          .between = {{"small", small}, {"rows", small}, {"glow", small}},
          .targets = {{"screen", setting.size}},
          .tensors = [](Context&, Tensors in) { return std::vector{sample::bloom(in[0])}; },
          .passes = {{.reads = {"frame"},
                      .writes = {"small"},
                      .wgsl = R"(
fn bright(at: vec2i) -> pixel { return max(frame_near(at) - 0.5, pixel()); }
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let size = max(frame_size / 4, vec2i(1, 1));
  let place = p.xy * (vec2f(frame_size) / vec2f(size)) - 0.5;
  let at = vec2i(floor(place));
  let share = place - floor(place);
  return shown(mix(mix(bright(at), bright(at + vec2i(1, 0)), share.x),
                   mix(bright(at + vec2i(0, 1)), bright(at + vec2i(1, 1)), share.x), share.y));
})",
                      .glsl = R"(
pixel bright(ivec2 at) { return max(frame_near(at) - 0.5, pixel(0.0)); }
void main() {
  ivec2 size = max(frame_size / 4, ivec2(1));
  vec2 place = gl_FragCoord.xy * (vec2(frame_size) / vec2(size)) - 0.5;
  ivec2 at = ivec2(floor(place));
  vec2 share = place - floor(place);
  to_small = shown(mix(mix(bright(at), bright(at + ivec2(1, 0)), share.x),
                       mix(bright(at + ivec2(0, 1)), bright(at + ivec2(1, 1)), share.x), share.y));
})"},
                     blurring_pass("small", "rows", weights, Along::width, "mirrored"),
                     blurring_pass("rows", "glow", weights, Along::height, "mirrored"),
                     {.reads = {"frame", "glow"},
                      .writes = {"screen"},
                      .wgsl = R"(
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  return shown(frame_at(vec2i(p.xy)) + glow_between(p.xy / vec2f(frame_size)) * 3.0);
})",
                      .glsl = R"(
void main() {
  to_screen = shown(frame_at(ivec2(gl_FragCoord.xy)) + glow_between(gl_FragCoord.xy / vec2(frame_size)) * 3.0);
})"}}};
}

// A mean over neighbours along an axis in which those of another colour count little.
Tensor bilateral_along(const Tensor& image, std::size_t axis) {
  constexpr int radius = 2;
  std::vector<PadWidth> margin(3);
  margin[axis] = {radius, radius};
  const Tensor wider = pad(image, margin, PadMode::edge);
  Tensor total = image, weights;
  for (int k = 0; k <= 2 * radius; ++k) {
    if (k == radius) continue;  // the pixel itself, whose weight is 1
    std::vector<std::int64_t> begin(3);
    begin[axis] = k;
    const Tensor neighbour = slice(wider, begin, {height_of(image), width_of(image), 3});
    const Tensor weight = exp(square(neighbour - image) * -60.0);
    total = total + neighbour * weight;
    weights = weights.is_empty() ? weight + 1.0 : weights + weight;
  }
  return total / weights;
}

// Few shades, with soft steps between them, and ink along the edges: the sample's cartoon.
Pipeline cartoon(const Setting& setting) {
  const auto bilateral_pass =
      [](const std::string& from, const std::string& to, const char* x, const char* y) {
        const std::string offset = std::string("(") + x + ", " + y + ")";
        return Pass{.reads = {from},
                    .writes = {to},
                    .wgsl = R"(
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let at = vec2i(p.xy);
  let middle = )" + from + R"(_at(at);
  var total = middle.rgb;
  var weights = vec3f(1.0);
  for (var k = -2; k <= 2; k++) {
    if (k == 0) { continue; }
    let neighbour = )" + from +
                            "_near(at + vec2i" + offset + R"().rgb;
    let difference = neighbour - middle.rgb;
    let weight = exp(difference * difference * -60.0);
    total += neighbour * weight;
    weights += weight;
  }
  return keep_alpha(total / weights, middle);
})",
                    .glsl = R"(
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  pixel middle = )" + from + R"(_at(at);
  vec3 total = middle.rgb, weights = vec3(1.0);
  for (int k = -2; k <= 2; ++k) {
    if (k == 0) continue;
    vec3 neighbour = )" + from +
                            "_near(at + ivec2" + offset + R"().rgb, difference = neighbour - middle.rgb;
    vec3 weight = exp(difference * difference * -60.0);
    total += neighbour * weight;
    weights += weight;
  }
  to_)" + to + R"( = keep_alpha(total / weights, middle);
})"};
      };
  return {.sources = {frame_of(setting)},
          .between = {{"columns", setting.size}, {"even", setting.size}},
          .targets = {{"screen", setting.size}},
          .tensors =
              [](Context&, Tensors in) {
                constexpr float shades = 6;
                const Tensor smooth = bilateral_along(bilateral_along(rgb_of(in[0]), 0), 1);
                const Tensor light = mean(smooth, {.axes = {2}, .keep_dims = true});
                const Tensor scaled = light * shades, below = floor(scaled);
                const Tensor shade = (below + clip((scaled - below - 0.5) * 6.0 + 0.5, 0, 1)) / shades;
                const Gradient gradient = sobel(light, Border::edge);
                const Tensor edges = sqrt(square(gradient.x) + square(gradient.y));
                const Tensor ink = clip(edges * 2.5 - 0.6, 0, 1);
                return std::vector{with_alpha_of(in[0], smooth * (shade / (light + 0.01) * (1.0 - ink)))};
              },
          .passes = {bilateral_pass("frame", "columns", "0", "k"),
                     bilateral_pass("columns", "even", "k", "0"),
                     {.reads = {"even"},
                      .writes = {"screen"},
                      .wgsl = R"(
fn light(at: vec2i) -> f32 { return dot(even_near(at).rgb, vec3f(1.0 / 3.0)); }
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let at = vec2i(p.xy);
  let a = light(at + vec2i(-1, -1)); let b = light(at + vec2i(0, -1)); let c = light(at + vec2i(1, -1));
  let d = light(at + vec2i(-1, 0)); let f = light(at + vec2i(1, 0));
  let g = light(at + vec2i(-1, 1)); let h = light(at + vec2i(0, 1)); let i = light(at + vec2i(1, 1));
  let edges = length(vec2f(c - a + 2.0 * (f - d) + i - g, g - a + 2.0 * (h - b) + i - c));
  let ink = saturate(edges * 2.5 - 0.6);
  let middle = even_at(at);
  let here = dot(middle.rgb, vec3f(1.0 / 3.0));
  let below = floor(here * 6.0);
  let shade = (below + saturate((here * 6.0 - below - 0.5) * 6.0 + 0.5)) / 6.0;
  return keep_alpha(middle.rgb * (shade / (here + 0.01) * (1.0 - ink)), middle);
})",
                      .glsl = R"(
float light(ivec2 at) { return dot(even_near(at).rgb, vec3(1.0 / 3.0)); }
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  float a = light(at + ivec2(-1, -1)), b = light(at + ivec2(0, -1)), c = light(at + ivec2(1, -1));
  float d = light(at + ivec2(-1, 0)), f = light(at + ivec2(1, 0));
  float g = light(at + ivec2(-1, 1)), h = light(at + ivec2(0, 1)), i = light(at + ivec2(1, 1));
  float edges = length(vec2(c - a + 2.0 * (f - d) + i - g, g - a + 2.0 * (h - b) + i - c));
  float ink = clamp(edges * 2.5 - 0.6, 0.0, 1.0);
  pixel middle = even_at(at);
  float here = dot(middle.rgb, vec3(1.0 / 3.0));
  float below = floor(here * 6.0);
  float shade = (below + clamp((here * 6.0 - below - 0.5) * 6.0 + 0.5, 0.0, 1.0)) / 6.0;
  to_screen = keep_alpha(middle.rgb * (shade / (here + 0.01) * (1.0 - ink)), middle);
})"}},
          .tolerance = 3};  // steps between shades are steep: they show what RGBA16F rounds six times
}

// An oval in the middle that stays as it is, as small as a network gives it.
Bytes oval(Size size) {
  Bytes mask;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const float right = (static_cast<float>(x) + 0.5f) / static_cast<float>(size.width) * 2 - 1,
                  down = (static_cast<float>(y) + 0.5f) / static_cast<float>(size.height) * 2 - 1;
      mask.push_back(
          static_cast<std::uint8_t>(std::clamp((right * right + down * down) * 2.5f - 0.6f, 0.0f, 1.0f) * 255));
    }
  return mask;
}

// Blurred where the mask is 1, by way of half and a quarter of the width and the height.
Pipeline background(const Setting& setting) {
  const Size halved = part(setting.size, 2), quarter = part(setting.size, 4);
  const std::vector<float> weights = gaussian_weights(5, 1.5f);
  const auto down_pass = [](const std::string& from, const std::string& to, Size size) {
    const std::string place = "(" + std::to_string(size.width) + ", " + std::to_string(size.height) + ")";
    return Pass{.reads = {from},
                .writes = {to},
                .wgsl = R"(
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  return shown()" + from +
                        "_between(p.xy / vec2f" + place + "));\n}\n",
                .glsl = "void main() {\n  to_" + to + " = shown(" + from + "_between(gl_FragCoord.xy / vec2" + place +
                        "));\n}\n"};
  };
  return {.sources = {frame_of(setting), {"mask", quarter, Format::r8, {oval(quarter)}}},
          .between = {{"halved", halved}, {"quarter", quarter}, {"rows", quarter}, {"far", quarter}},
          .targets = {{"screen", setting.size}},
          .tensors =
              [=](Context&, Tensors in) {
                const Tensor& frame = in[0];
                const Tensor small =
                    resize_bilinear(resize_bilinear(frame, halved.height, halved.width), quarter.height, quarter.width);
                const auto full_size = [&](const Tensor& image) {
                  return resize_bilinear(image, height_of(frame), width_of(frame));
                };
                const Tensor blurred = full_size(separable_filter(small, weights, weights, Border::edge));
                return std::vector{frame + (blurred - frame) * full_size(in[1])};
              },
          .passes = {down_pass("frame", "halved", halved),
                     down_pass("halved", "quarter", quarter),
                     blurring_pass("quarter", "rows", weights, Along::width),
                     blurring_pass("rows", "far", weights, Along::height),
                     {.reads = {"frame", "far", "mask"},
                      .writes = {"screen"},
                      .wgsl = R"(
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let place = p.xy / vec2f(frame_size);
  return shown(mix(frame_at(vec2i(p.xy)), far_between(place), mask_between(place).r));
})",
                      .glsl = R"(
void main() {
  vec2 place = gl_FragCoord.xy / vec2(frame_size);
  to_screen = shown(mix(frame_at(ivec2(gl_FragCoord.xy)), far_between(place), mask_between(place).r));
})"}}};
}

// The mean over time, in which an earlier pixel counts less the more it differs from what is around it now.
Pipeline denoise(const Setting& setting) {
  return {.sources = {frame_of(setting)},
          .history = Texture{"history", setting.size},
          .targets = {{"screen", setting.size}},
          .tensors =
              [](Context&, Tensors in) {
                const Tensor &frame = in[0], before = in[1].cast(DType::f32);
                const std::vector<float> weights{0.25f, 0.5f, 0.25f};
                const Tensor smooth = separable_filter(frame, weights, weights, Border::edge);
                const Tensor share = exp(square(before - smooth) * -25.0) * 0.8;
                const Tensor result = frame + (before - frame) * share;
                return std::vector{result, result.cast(in[1].dtype())};
              },
          .passes = {{.reads = {"frame", "history"},
                      .writes = {"screen", "history"},
                      .wgsl = R"(
struct Results {
  @location(0) screen: vec4f,
  @location(1) history: vec4f,
}
@fragment fn main(@builtin(position) p: vec4f) -> Results {
  let at = vec2i(p.xy);
  let corners = frame_near(at + vec2i(-1, -1)) + frame_near(at + vec2i(1, -1)) + frame_near(at + vec2i(-1, 1)) +
                frame_near(at + vec2i(1, 1));
  let sides = frame_near(at + vec2i(0, -1)) + frame_near(at + vec2i(0, 1)) + frame_near(at + vec2i(-1, 0)) +
              frame_near(at + vec2i(1, 0));
  let now = frame_at(at);
  let before = history_at(at);
  let difference = before - (now * 0.25 + sides * 0.125 + corners * 0.0625);
  let result = shown(mix(now, before, exp(difference * difference * -25.0) * 0.8));
  return Results(result, result);
})",
                      .glsl = R"(
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  pixel corners = frame_near(at + ivec2(-1, -1)) + frame_near(at + ivec2(1, -1)) + frame_near(at + ivec2(-1, 1)) +
                  frame_near(at + ivec2(1, 1));
  pixel sides = frame_near(at + ivec2(0, -1)) + frame_near(at + ivec2(0, 1)) + frame_near(at + ivec2(-1, 0)) +
                frame_near(at + ivec2(1, 0));
  pixel now = frame_at(at), before = history_at(at);
  pixel difference = before - (now * 0.25 + sides * 0.125 + corners * 0.0625);
  to_screen = shown(mix(now, before, exp(difference * difference * -25.0) * 0.8));
  to_history = to_screen;
})"}}};
}

}  // namespace

std::vector<Entry> effect_pipelines() {
  return {{"bloom", bloom}, {"cartoon", cartoon}, {"background", background}, {"denoise", denoise}};
}

}  // namespace tessera::bench
