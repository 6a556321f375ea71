#include "bench/frames/prelude.h"

#include <stdexcept>

namespace tessera::bench {
namespace {

// In both texts: T the texture, W and H its size, C the channels that count.
std::string filled_in(std::string text, const Texture& texture, int channels) {
  const auto replace = [&](char mark, const std::string& by) {
    for (std::size_t at = 0; (at = text.find('$', at)) != std::string::npos; ++at)
      if (text[at + 1] == mark) text.replace(at, 2, by);
  };
  replace('T', texture.name);
  replace('W', std::to_string(texture.size.width));
  replace('H', std::to_string(texture.size.height));
  replace('C', channels == 3 ? "rgb" : "rgba");
  return text;
}

}  // namespace

const Texture& texture_of(const Pipeline& pipeline, const std::string& name) {
  for (const auto* list : {&pipeline.sources, &pipeline.tables, &pipeline.between, &pipeline.targets})
    for (const Texture& texture : *list)
      if (texture.name == name) return texture;
  if (pipeline.history && pipeline.history->name == name) return *pipeline.history;
  throw std::runtime_error("the pipeline has no texture " + name);
}

std::string wgsl_of(const Pipeline& pipeline, const Pass& pass, int channels) {
  std::string text = channels == 3 ? R"(alias pixel = vec3f;
fn shown(p: pixel) -> vec4f { return vec4f(p, 1.0); }
fn keep_alpha(rgb: vec3f, p: pixel) -> vec4f { return vec4f(rgb, 1.0); }
)"
                                   : R"(alias pixel = vec4f;
fn shown(p: pixel) -> vec4f { return p; }
fn keep_alpha(rgb: vec3f, p: pixel) -> vec4f { return vec4f(rgb, p.a); }
)";
  text += "@group(0) @binding(8) var linear: sampler;\n";
  for (std::size_t i = 0; i < pass.reads.size(); ++i) {
    const Texture& texture = texture_of(pipeline, pass.reads[i]);
    text += "@group(0) @binding(" + std::to_string(i) + ") var " + texture.name + ": texture_" +
            (texture.depth ? "3d" : "2d") + "<f32>;\n";
    if (texture.depth) continue;
    text += filled_in(R"(const $T_size = vec2i($W, $H);
fn $T_at(at: vec2i) -> pixel { return textureLoad($T, at, 0).$C; }
fn $T_near(at: vec2i) -> pixel { return $T_at(clamp(at, vec2i(0, 0), $T_size - 1)); }
fn $T_mirrored(at: vec2i) -> pixel { return $T_near($T_size - 1 - abs($T_size - 1 - abs(at))); }
fn $T_between(place: vec2f) -> pixel { return textureSampleLevel($T, linear, place, 0.0).$C; }
)",
                      texture, channels);
  }
  return text + pass.wgsl;
}

std::string glsl_of(const Pipeline& pipeline, const Pass& pass, int channels) {
  std::string text =
      "#version 300 es\nprecision highp float;\nprecision highp int;\nprecision highp sampler2D;\nprecision highp "
      "sampler3D;\n";
  text += channels == 3 ? R"(#define pixel vec3
#define shown(p) vec4(p, 1.0)
#define keep_alpha(rgb, p) vec4(rgb, 1.0)
)"
                        : R"(#define pixel vec4
#define shown(p) (p)
#define keep_alpha(rgb, p) vec4(rgb, (p).a)
)";
  for (const std::string& name : pass.reads) {
    const Texture& texture = texture_of(pipeline, name);
    text += std::string("uniform ") + (texture.depth ? "sampler3D " : "sampler2D ") + name + ";\n";
    if (texture.depth) continue;
    text += filled_in(R"(const ivec2 $T_size = ivec2($W, $H);
pixel $T_at(ivec2 at) { return texelFetch($T, at, 0).$C; }
pixel $T_near(ivec2 at) { return $T_at(clamp(at, ivec2(0), $T_size - 1)); }
pixel $T_mirrored(ivec2 at) { return $T_near($T_size - 1 - abs($T_size - 1 - abs(at))); }
pixel $T_between(vec2 place) { return textureLod($T, place, 0.0).$C; }
)",
                      texture, channels);
  }
  for (std::size_t i = 0; i < pass.writes.size(); ++i)
    text += "layout(location = " + std::to_string(i) + ") out vec4 to_" + pass.writes[i] + ";\n";
  return text + pass.glsl;
}

}  // namespace tessera::bench
