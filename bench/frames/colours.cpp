// Pipelines in which each pixel stands for itself.
#include <cmath>
#include <cstring>

#include "bench/frames/images.h"
#include "bench/frames/pipeline.h"

namespace tessera::bench {
namespace {

Pipeline one_pass(const Setting& setting, std::function<Tensor(Context&, const Tensor&)> tensors, std::string wgsl,
                  std::string glsl) {
  return {.sources = {frame_of(setting)},
          .targets = {{"screen", setting.size}},
          .tensors = [tensors](Context& gpu, Tensors in) { return std::vector{tensors(gpu, in[0])}; },
          .passes = {{.reads = {"frame"}, .writes = {"screen"}, .wgsl = wgsl, .glsl = glsl}}};
}

Pipeline invert(const Setting& setting) {
  return one_pass(
      setting,
      [](Context& gpu, const Tensor& frame) {
        if (frame.shape()[2] == 3) return 1.0f - frame;
        return frame * gpu.tensor({4}, {-1, -1, -1, 1}) + gpu.tensor({4}, {1, 1, 1, 0});
      },
      R"(
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let c = frame_at(vec2i(p.xy));
  return keep_alpha(1.0 - c.rgb, c);
})",
      R"(
void main() {
  pixel c = frame_at(ivec2(gl_FragCoord.xy));
  to_screen = keep_alpha(1.0 - c.rgb, c);
})");
}

// Linear light, brighter by a factor, through the ACES curve (Narkowicz) and back to the screen's numbers.
Pipeline tone_map(const Setting& setting) {
  return one_pass(
      setting,
      [](Context&, const Tensor& frame) {
        const Tensor light = pow(rgb_of(frame), 2.2) * 1.6;
        const Tensor mapped = light * (light * 2.51 + 0.03) / (light * (light * 2.43 + 0.59) + 0.14);
        return with_alpha_of(frame, pow(clip(mapped, 0, 1), 1 / 2.2));
      },
      R"(
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let c = frame_at(vec2i(p.xy));
  let light = pow(c.rgb, vec3f(2.2)) * 1.6;
  let mapped = light * (light * 2.51 + 0.03) / (light * (light * 2.43 + 0.59) + 0.14);
  return keep_alpha(pow(saturate(mapped), vec3f(1.0 / 2.2)), c);
})",
      R"(
void main() {
  pixel c = frame_at(ivec2(gl_FragCoord.xy));
  vec3 light = pow(c.rgb, vec3(2.2)) * 1.6;
  vec3 mapped = light * (light * 2.51 + 0.03) / (light * (light * 2.43 + 0.59) + 0.14);
  to_screen = keep_alpha(pow(clamp(mapped, 0.0, 1.0), vec3(1.0 / 2.2)), c);
})");
}

// Sepia, and a little lighter.
Pipeline colour_matrix_of_sepia(const Setting& setting) {
  return one_pass(
      setting,
      [](Context&, const Tensor& frame) {
        const Tensor toned =
            frame.shape()[2] == 3
                ? colour_matrix(frame, {0.393f, 0.769f, 0.189f, 0.02f, 0.349f, 0.686f, 0.168f, 0.02f,  //
                                        0.272f, 0.534f, 0.131f, 0.02f})
                : colour_matrix(frame, {0.393f, 0.769f, 0.189f, 0, 0.02f, 0.349f, 0.686f, 0.168f, 0, 0.02f,  //
                                        0.272f, 0.534f, 0.131f, 0, 0.02f, 0,      0,      0,      1, 0});
        return toned;
      },
      R"(
const sepia = mat3x3f(0.393, 0.349, 0.272, 0.769, 0.686, 0.534, 0.189, 0.168, 0.131);
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let c = frame_at(vec2i(p.xy));
  return keep_alpha(sepia * c.rgb + 0.02, c);
})",
      R"(
const mat3 sepia = mat3(0.393, 0.349, 0.272, 0.769, 0.686, 0.534, 0.189, 0.168, 0.131);
void main() {
  pixel c = frame_at(ivec2(gl_FragCoord.xy));
  to_screen = keep_alpha(sepia * c.rgb + 0.02, c);
})");
}

// Warm lights and cold shadows, in a table of 33 entries along each axis, the last of which is red.
constexpr int table_side = 33;

std::vector<float> graded_colours() {
  std::vector<float> colours;
  for (int blue = 0; blue < table_side; ++blue)
    for (int green = 0; green < table_side; ++green)
      for (int red = 0; red < table_side; ++red) {
        const float r = static_cast<float>(red) / (table_side - 1), g = static_cast<float>(green) / (table_side - 1),
                    b = static_cast<float>(blue) / (table_side - 1), light = 0.3f * r + 0.6f * g + 0.1f * b;
        colours.insert(colours.end(), {std::pow(r, 1.2f) * (0.8f + 0.2f * light), 0.9f * g + 0.1f * light,
                                       std::sqrt(b) * (1.0f - 0.4f * light)});
      }
  return colours;
}

Bytes as_rgba16f(const std::vector<float>& colours) {
  std::vector<half> halves;
  for (std::size_t i = 0; i < colours.size(); i += 3)
    halves.insert(halves.end(), {half(colours[i]), half(colours[i + 1]), half(colours[i + 2]), half(1)});
  Bytes bytes(halves.size() * sizeof(half));
  std::memcpy(bytes.data(), halves.data(), bytes.size());
  return bytes;
}

Pipeline lookup(const Setting& setting) {
  Pipeline pipeline = one_pass(
      setting,
      [](Context& gpu, const Tensor& frame) {
        return colour_lookup(frame, gpu.tensor({table_side, table_side, table_side, 3}, graded_colours()));
      },
      R"(
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let c = frame_at(vec2i(p.xy));
  return keep_alpha(textureSampleLevel(colours, linear, c.rgb * (32.0 / 33.0) + 0.5 / 33.0, 0.0).rgb, c);
})",
      R"(
void main() {
  pixel c = frame_at(ivec2(gl_FragCoord.xy));
  to_screen = keep_alpha(textureLod(colours, c.rgb * (32.0 / 33.0) + 0.5 / 33.0, 0.0).rgb, c);
})");
  pipeline.tables = {
      {"colours", {table_side, table_side}, Format::rgba16f, {as_rgba16f(graded_colours())}, table_side}};
  pipeline.passes[0].reads.push_back("colours");
  return pipeline;
}

}  // namespace

std::vector<Entry> colour_pipelines() {
  return {{"invert", invert}, {"tone_map", tone_map}, {"colour_matrix", colour_matrix_of_sepia}, {"lut_3d", lookup}};
}

}  // namespace tessera::bench
