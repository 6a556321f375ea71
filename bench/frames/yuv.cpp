// Pipelines from and to what cameras, decoders and encoders have: YUV 4:2:0, BT.709, limited range.
#include <algorithm>
#include <cmath>

#include "bench/frames/images.h"
#include "bench/frames/pipeline.h"

namespace tessera::bench {
namespace {

struct Planes {
  Bytes y, uv;
};

Planes planes_of(const Bytes& rgba, Size size) {
  const auto rounded = [](double value) { return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0l, 255l)); };
  const auto channel = [&](int x, int y, int c) {
    return static_cast<double>(rgba[static_cast<std::size_t>((y * size.width + x) * 4 + c)]) / 255;
  };
  const auto luma = [&](int x, int y) {
    return 0.2126 * channel(x, y, 0) + 0.7152 * channel(x, y, 1) + 0.0722 * channel(x, y, 2);
  };
  Planes planes;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      planes.y.push_back(rounded(16 + 219 * luma(x, y)));
      if (x % 2 || y % 2) continue;
      planes.uv.push_back(rounded(128 + 224 * (channel(x, y, 2) - luma(x, y)) / 1.8556));
      planes.uv.push_back(rounded(128 + 224 * (channel(x, y, 0) - luma(x, y)) / 1.5748));
    }
  return planes;
}

// A decoder's frame as a network wants it: 224 x 224, RGB, with the mean and the deviation of ImageNet.
Pipeline network_input(const Setting& setting) {
  Texture y{"y", setting.size, Format::r8}, uv{"uv", part(setting.size, 2), Format::rg8};
  for (const Bytes& picture : setting.pictures) {
    Planes planes = planes_of(picture, setting.size);
    y.contents.push_back(std::move(planes.y));
    uv.contents.push_back(std::move(planes.uv));
  }
  return {.sources = {y, uv},
          .targets = {{"network", {224, 224}, Format::tensor}},
          .tensors =
              [](Context& gpu, Tensors in) {
                const Tensor rgb = nv12_to_rgb(in[0].reshape({height_of(in[0]), width_of(in[0])}), in[1]);
                const Tensor mean = gpu.tensor({3}, {0.485f, 0.456f, 0.406f});
                const Tensor deviation = gpu.tensor({3}, {0.229f, 0.224f, 0.225f});
                return std::vector{(resize_bilinear(rgb, 224, 224) - mean) / deviation};
              },
          .passes = {{.reads = {"y", "uv"},
                      .writes = {"network"},
                      .wgsl = R"(
fn yuv(at: vec2i) -> vec3f {
  let inside = clamp(at, vec2i(0, 0), y_size - 1);
  return vec3f(textureLoad(y, inside, 0).r, textureLoad(uv, inside / 2, 0).rg);
}
@group(0) @binding(9) var<storage, read_write> network: array<f32>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (any(id.xy >= vec2u(224, 224))) { return; }
  let place = (vec2f(id.xy) + 0.5) * (vec2f(y_size) / 224.0) - 0.5;
  let at = vec2i(floor(place));
  let share = place - floor(place);
  let c = mix(mix(yuv(at), yuv(at + vec2i(1, 0)), share.x),
              mix(yuv(at + vec2i(0, 1)), yuv(at + vec2i(1, 1)), share.x), share.y);
  let luma = (c.x - 16.0 / 255.0) * (255.0 / 219.0);
  let chroma = (c.yz - 128.0 / 255.0) * (255.0 / 224.0);
  let rgb = vec3f(luma + 1.5748 * chroma.y, luma - 0.187324 * chroma.x - 0.468124 * chroma.y, luma + 1.8556 * chroma.x);
  let normalised = (rgb - vec3f(0.485, 0.456, 0.406)) * (1.0 / vec3f(0.229, 0.224, 0.225));
  let first = (id.y * 224 + id.x) * 3;
  network[first] = normalised.r;
  network[first + 1] = normalised.g;
  network[first + 2] = normalised.b;
})",
                      .glsl = R"(
vec3 yuv(ivec2 at) {
  ivec2 inside = clamp(at, ivec2(0), y_size - 1);
  return vec3(texelFetch(y, inside, 0).r, texelFetch(uv, inside / 2, 0).rg);
}
vec3 normalised(ivec2 p) {
  vec2 place = (vec2(p) + 0.5) * (vec2(y_size) / 224.0) - 0.5;
  ivec2 at = ivec2(floor(place));
  vec2 share = place - floor(place);
  vec3 c = mix(mix(yuv(at), yuv(at + ivec2(1, 0)), share.x),
               mix(yuv(at + ivec2(0, 1)), yuv(at + ivec2(1, 1)), share.x), share.y);
  float luma = (c.x - 16.0 / 255.0) * (255.0 / 219.0);
  vec2 chroma = (c.yz - 128.0 / 255.0) * (255.0 / 224.0);
  vec3 rgb = vec3(luma + 1.5748 * chroma.y, luma - 0.187324 * chroma.x - 0.468124 * chroma.y, luma + 1.8556 * chroma.x);
  return (rgb - vec3(0.485, 0.456, 0.406)) * (1.0 / vec3(0.229, 0.224, 0.225));
}
void main() {  // the elements of one pixel and of the next
  ivec2 texel = ivec2(gl_FragCoord.xy);
  ivec2 at = ivec2(texel.x * 4 / 3, texel.y);
  int channel = texel.x * 4 - at.x * 3;
  vec3 one = normalised(at), next = normalised(at + ivec2(1, 0));
  to_network = channel == 0 ? vec4(one, next.r) : channel == 1 ? vec4(one.gb, next.rg) : vec4(one.b, next);
})"}},
          // The 1.5 of 255 that a pixel may be off elsewhere, by the smallest deviation: Precision::half reads between
          // pixels by the device's filter.
          .tolerance = 1.5 / 0.224 - 0.5};
}

// A rendered frame as an encoder wants it.
Pipeline yuv_out(const Setting& setting) {
  return {.sources = {frame_of(setting)},
          .targets = {{"y", setting.size, Format::r8}, {"uv", part(setting.size, 2), Format::rg8}},
          .tensors =
              [](Context&, Tensors in) {
                const Nv12 planes = rgb_to_nv12(in[0]);
                return std::vector{planes.y, planes.uv};
              },
          .passes = {{.reads = {"frame"},
                      .writes = {"y"},
                      .wgsl = R"(
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let luma = dot(frame_at(vec2i(p.xy)).rgb, vec3f(0.2126, 0.7152, 0.0722));
  return vec4f(luma * (219.0 / 255.0) + 16.0 / 255.0, 0.0, 0.0, 1.0);
})",
                      .glsl = R"(
void main() {
  float luma = dot(frame_at(ivec2(gl_FragCoord.xy)).rgb, vec3(0.2126, 0.7152, 0.0722));
  to_y = vec4(luma * (219.0 / 255.0) + 16.0 / 255.0, 0.0, 0.0, 1.0);
})"},
                     {.reads = {"frame"},
                      .writes = {"uv"},
                      .wgsl = R"(
@fragment fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {
  let at = vec2i(p.xy) * 2;
  let c = (frame_at(at) + frame_near(at + vec2i(1, 0)) + frame_near(at + vec2i(0, 1)) + frame_near(at + vec2i(1, 1))) * 0.25;
  let luma = dot(c.rgb, vec3f(0.2126, 0.7152, 0.0722));
  return vec4f((c.br - luma) * (224.0 / 255.0 / vec2f(1.8556, 1.5748)) + 128.0 / 255.0, 0.0, 1.0);
})",
                      .glsl = R"(
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy) * 2;
  pixel c = (frame_at(at) + frame_near(at + ivec2(1, 0)) + frame_near(at + ivec2(0, 1)) + frame_near(at + ivec2(1, 1))) * 0.25;
  float luma = dot(c.rgb, vec3(0.2126, 0.7152, 0.0722));
  to_uv = vec4((c.br - luma) * (224.0 / 255.0 / vec2(1.8556, 1.5748)) + 128.0 / 255.0, 0.0, 1.0);
})"}}};
}

}  // namespace

std::vector<Entry> yuv_pipelines() { return {{"network_input", network_input, false}, {"yuv_out", yuv_out}}; }

std::vector<Entry> all_pipelines() {
  std::vector<Entry> all;
  for (const auto list : {colour_pipelines, filter_pipelines, effect_pipelines, yuv_pipelines, network_pipelines})
    for (const Entry& entry : list()) all.push_back(entry);
  return all;
}

}  // namespace tessera::bench
