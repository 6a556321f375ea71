// What the formats of a host's textures are to tessera.
#pragma once
#include <webgpu/webgpu.h>

#include <string>
#include <string_view>

namespace tessera::webgpu {

enum class Sampled { floats, unsigned_integers, signed_integers, not_at_all };

struct TextureFormat {
  std::string_view name;
  Sampled sampled = Sampled::not_at_all;  // what a shader gets from it
  std::string_view storage{};             // its name in WGSL where storage textures may have it
};

TextureFormat format_of(WGPUTexture);
std::string size_text(WGPUTexture);  // "640x480", width first

}  // namespace tessera::webgpu
