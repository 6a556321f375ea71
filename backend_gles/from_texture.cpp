// gles::from_texture
#include <algorithm>

#include "backend_gles/import_pass.h"
#include "backend_gles/interop.h"
#include "backend_gles/storage.h"

namespace tessera::gles {
namespace {

void check_arguments(const HostTexture& host, const Device& device) {
  if (host.width <= 0 || host.height <= 0 || std::max(host.width, host.height) > device.max_side())
    throw Error(ErrorCode::invalid_argument, "from_texture: a texture of " + std::to_string(host.width) + " x " +
                                                 std::to_string(host.height) + " texels; each side must be 1 to " +
                                                 std::to_string(device.max_side()) + " on " + device.info().name + ".");
  const std::string& channels = host.channels;
  bool is_good = !channels.empty() && channels.find_first_not_of("RGBA") == std::string::npos;
  for (const char channel : channels) is_good = is_good && std::ranges::count(channels, channel) == 1;
  if (!is_good)
    throw Error(ErrorCode::invalid_argument, "from_texture: the channels \"" + channels +
                                                 "\" are not some of R, G, B and A, each once, in any order.");
  if (host.is_external && !device.gl().OES_EGL_image_external_essl3)
    throw Error(ErrorCode::unsupported, "from_texture: external textures need GL_OES_EGL_image_external_essl3, which " +
                                            device.info().name + " lacks.");
}

}  // namespace

Tensor from_texture(Context& context, const HostTexture& host) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  const std::shared_ptr<const Device>& device = backend_of("from_texture", impl).gl_device();
  check_arguments(host, *device);
  TextureTraits traits;
  {
    const Entered entered(*device, touch::texture | state::draw_framebuffer);
    traits = traits_of(*device, host, "from_texture");
  }
  const Shape shape{host.height, host.width, static_cast<std::int64_t>(host.channels.size())};
  if (traits.is_dense_float && host.channels == "RGBA" && !host.copy) {
    const Extent extent{host.width, host.height};
    return borrowed_tensor(impl, shape, DType::f32, std::make_unique<TextureStorage>(device, host.texture, extent),
                           layout_of(extent));
  }
  return imported_tensor(impl, shape, DType::f32, std::make_shared<ImportPass>(*device, host, traits.kind));
}

}  // namespace tessera::gles
