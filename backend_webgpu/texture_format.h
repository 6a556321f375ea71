// The formats of textures: those of tensors, and how a shader sees those of a host's.
#pragma once
#include <webgpu/webgpu.h>

#include <string_view>

#include "core/kernel/host_image.h"
#include <tessera/dtype.h>

namespace tessera::webgpu {

WGPUTextureFormat format_of(DType);

struct TextureFormat {
  std::string_view name;
  Texels texels = Texels::unreadable;
  std::string_view storage{};  // the name of the format in WGSL where storage textures may have it

  Bytes bytes() const;
  bool has_depth() const { return name.starts_with("Depth"); }
  bool has_stencil() const { return name.ends_with("Stencil8"); }
};
TextureFormat format_named(WGPUTextureFormat);
TextureFormat format_of(WGPUTexture);

}  // namespace tessera::webgpu
