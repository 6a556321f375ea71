// A host's textures, as pixel kernels read and write them.
#pragma once
#include <memory>
#include <string>

#include "backend_webgpu/handle.h"
#include "core/kernel/backend.h"
#include "core/kernel/host_image.h"

namespace tessera::webgpu {

class TextureSource : public HostSource {
 public:
  virtual WGPUTexture texture() const = 0;
};
// The texture is readable by shaders, and the channels are such as check_channels() lets pass.
std::shared_ptr<TextureSource> texture_source(WGPUTexture, const std::string& channels);

class TextureTarget : public HostTarget {
 public:
  virtual WGPUTexture texture() const = 0;
};
// The texture, which the caller keeps, has the size of the image and can be drawn or stored.
std::unique_ptr<TextureTarget> texture_target(const HostImage&, WGPUTexture, bool flip_y);

// HostSource::type() in its parts.
struct SourceType {
  std::string sampled;     // the type of the texels' components: "f32", "u32" or "i32"
  std::string components;  // that the channels are: "bgrb"

  std::string text() const { return sampled + " " + components; }
  static SourceType of(const std::string& text);
};

// HostTarget::type() in its parts.
struct TargetType {
  WGPUTextureFormat format;
  bool is_drawn;  // or else stored, by a compute shader
  bool is_flipped;

  std::string text() const;
  static TargetType of(const std::string& text);
};

}  // namespace tessera::webgpu
