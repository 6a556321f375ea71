// gles::from_texture
#include <algorithm>

#include "backend_gles/backend.h"
#include "backend_gles/storage.h"
#include "backend_gles/texture_import.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"

namespace tessera::gles {
namespace {

void check(const HostTexture& host, const Device& device) {
  if (host.width <= 0 || host.height <= 0 || std::max(host.width, host.height) > device.max_side())
    fail(ErrorCode::invalid_argument, from_texture_op,
         "a texture of " + std::to_string(host.width) + " x " + std::to_string(host.height) +
             " texels; each side must be 1 to " + std::to_string(device.max_side()) + " on " + device.info().name +
             ".");
  check_channels(from_texture_op, host.channels);
  if (host.is_external && !device.gl().OES_EGL_image_external_essl3)
    fail(ErrorCode::unsupported, from_texture_op,
         "external textures need GL_OES_EGL_image_external_essl3, which " + device.info().name + " lacks.");
}

}  // namespace

Tensor from_texture(Context& context, const HostTexture& host) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  const std::shared_ptr<const Device>& device = backend_of<GlesBackend>(from_texture_op, impl).own_device();
  check(host, *device);
  TextureTraits traits;
  {
    const Entered entered(*device, touch::texture | state::draw_framebuffer);
    traits = traits_of(*device, host, from_texture_op);
  }
  const Shape shape{host.height, host.width, std::ssize(host.channels)};
  if (traits.is_dense_float && host.channels == "RGBA" && !host.copy) {
    const Extent extent{host.width, host.height};
    return borrowed_tensor(impl, shape, DType::f32, std::make_unique<TextureStorage>(device, host.texture, extent),
                           layout_of(extent));
  }
  return imported_tensor(
      impl, shape, DType::f32,
      std::make_shared<TextureImport>(*device, host, traits.texels, traits.is_filterable && !host.is_external));
}

}  // namespace tessera::gles
