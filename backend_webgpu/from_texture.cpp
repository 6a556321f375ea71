// webgpu::from_texture
#include "backend_webgpu/backend.h"
#include "backend_webgpu/host_objects.h"
#include "backend_webgpu/host_texture.h"
#include "backend_webgpu/texture_format.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view from_texture_op = "webgpu::from_texture";

void check_aspect(const TextureFormat& format, const std::string& channels) {
  const bool has_colours = format.texels != Texels::unreadable;
  const bool has_wanted = is_depth(channels)     ? format.has_depth()
                          : is_stencil(channels) ? format.has_stencil()
                                                 : has_colours;
  if (has_wanted) return;
  std::string advice;
  if (format.has_depth()) advice += "; its depth is read as the channels \"D\"";
  if (format.has_stencil()) advice += std::string(format.has_depth() ? ", " : "; ") + "its stencil as \"S\"";
  fail(ErrorCode::unsupported, from_texture_op,
       "the texture's format is " + std::string(format.name) + ", which has no channels \"" + channels + "\" to read" +
           advice + ".");
}

TextureFormat checked_format(WGPUTexture texture, const std::string& channels) {
  if (!texture) fail(ErrorCode::invalid_argument, from_texture_op, "the texture is null.");
  if (wgpuTextureGetDimension(texture) == WGPUTextureDimension_1D)
    fail(ErrorCode::unsupported, from_texture_op, "the texture is a 1-D one, not 2-D or 3-D.");
  check_channels(from_texture_op, channels);
  const TextureFormat format = format_of(texture);
  check_aspect(format, channels);
  if (!(wgpuTextureGetUsage(texture) & WGPUTextureUsage_TextureBinding))
    fail(ErrorCode::invalid_argument, from_texture_op,
         "the texture lacks the usage TextureBinding (WGPUTextureUsage_TextureBinding), without which no shader can "
         "read it.");
  return format;
}

}  // namespace

Tensor from_texture(Context& context, WGPUTexture texture, const FromTexture& options) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  WebGpuBackend& backend = backend_of<WebGpuBackend>(from_texture_op, impl);
  const TextureFormat format = checked_format(texture, options.channels);
  const Bytes bytes = is_stencil(options.channels) ? Bytes::integers : format.bytes();
  const HostValue value = host_value(from_texture_op, options.dtype, bytes, format.name);
  const TexturePart part = checked_part(from_texture_op, options.part, extent_of(texture, options.part.level));
  auto source = std::make_shared<TextureSource>(texture, options.channels, part, value);
  backend.host_object_checks().require_source(from_texture_op, *source);
  const Shape shape{part.height, part.width, std::ssize(options.channels)};
  return imported_tensor(impl, shape, options.dtype, std::move(source));
}

}  // namespace tessera::webgpu
