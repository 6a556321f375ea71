// gles::from_texture
#include <algorithm>

#include "backend_gles/backend.h"
#include "backend_gles/storage.h"
#include "backend_gles/texture_import.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"

namespace tessera::gles {
namespace {

void check_size(int width, int height, const Device& device) {
  if (width <= 0 || height <= 0 || std::max(width, height) > device.max_side())
    fail(ErrorCode::invalid_argument, from_texture_op,
         "a texture of " + std::to_string(width) + " x " + std::to_string(height) + " texels; each side must be 1 to " +
             std::to_string(device.max_side()) + " on " + device.info().name + ".");
}

void check(const HostTexture& host, const Device& device) {
  check_size(host.width, host.height, device);
  check_channels(from_texture_op, host.channels);
  if (host.target == texture_external && !device.gl().OES_EGL_image_external_essl3)
    fail(ErrorCode::unsupported, from_texture_op,
         "external textures need GL_OES_EGL_image_external_essl3, which " + device.info().name + " lacks.");
}

// Shaders read levels from the base level on.
void check_readable(const HostTexture& host, const TextureTraits& traits, const Device& device) {
  if (traits.part.level < traits.base_level)
    fail(ErrorCode::invalid_argument, from_texture_op,
         "level " + std::to_string(traits.part.level) + " comes before the texture's GL_TEXTURE_BASE_LEVEL, which is " +
             std::to_string(traits.base_level) + ".");
  if ((is_depth(host.channels) && !traits.has_depth) || (is_stencil(host.channels) && !traits.has_stencil))
    fail(ErrorCode::invalid_argument, from_texture_op,
         "the texture's format is " + traits.format_name() + ", which has no channel \"" + host.channels + "\".");
  if (is_stencil(host.channels)) require_stencil_textures(device);
}

}  // namespace

Tensor from_texture(Context& context, const HostTexture& host) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  const std::shared_ptr<const Device>& device = backend_of<GlesBackend>(from_texture_op, impl).own_device();
  check(host, *device);
  TextureTraits traits;
  {
    const Entered entered(*device);
    traits = traits_of(*device, host, from_texture_op);
  }
  check_readable(host, traits, *device);
  const Bytes bytes = is_stencil(host.channels) ? Bytes::integers : traits.bytes;
  const std::optional<HostValue> known = host_value(host.dtype, bytes);
  const HostValue value = known ? *known : host_value(from_texture_op, host.dtype, bytes, traits.format_name());
  const Shape shape{traits.part.height, traits.part.width, std::ssize(host.channels)};
  if (traits.is_dense_float && host.channels == "RGBA" && host.dtype == DType::f32 && !host.copy) {
    const Extent extent{host.width, host.height};
    return borrowed_tensor(impl, shape, DType::f32, std::make_unique<TextureStorage>(device, host.texture, extent),
                           layout_of(extent));
  }
  return imported_tensor(impl, shape, host.dtype, std::make_shared<TextureImport>(host, traits, value));
}

Tensor from_texture(Context& context, const HostFramebuffer& host, const FromFramebuffer& options) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  const Device& device = *backend_of<GlesBackend>(from_texture_op, impl).own_device();
  check_size(host.width, host.height, device);
  if (host.x < 0 || host.y < 0 || std::max(host.x + host.width, host.y + host.height) > device.max_side())
    fail(ErrorCode::invalid_argument, from_texture_op,
         "pixels from " + std::to_string(host.x) + ", " + std::to_string(host.y) + " on do not lie within " +
             std::to_string(device.max_side()) + " x " + std::to_string(device.max_side()) + ".");
  check_channels(from_texture_op, options.channels);
  const Shape shape{host.height, host.width, std::ssize(options.channels)};
  return imported_tensor(impl, shape, options.dtype, std::make_shared<FramebufferImport>(device, host, options));
}

}  // namespace tessera::gles
