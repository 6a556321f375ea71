// webgpu::to_texture
#include "backend_webgpu/backend.h"
#include "backend_webgpu/host_texture.h"
#include "backend_webgpu/recording.h"
#include "backend_webgpu/texture_format.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view to_texture_op = "webgpu::to_texture";

void check(WGPUTexture texture) {
  if (!texture) fail(ErrorCode::invalid_argument, to_texture_op, "the texture is null.");
  if (wgpuTextureGetDimension(texture) == WGPUTextureDimension_1D)
    fail(ErrorCode::unsupported, to_texture_op, "the texture is a 1-D one, not 2-D or 3-D.");
  if (const std::uint32_t samples = wgpuTextureGetSampleCount(texture); samples != 1)
    fail(ErrorCode::unsupported, to_texture_op,
         "the texture has " + std::to_string(samples) + " samples a pixel, not 1.");
  const TextureFormat format = format_of(texture);
  if (format.texels != Texels::floats)
    fail(ErrorCode::unsupported, to_texture_op,
         "the texture's format is " + std::string(format.name) + "; only float and normalised ones can be written.");
  if (is_render_target(texture)) return;
  if (!(wgpuTextureGetUsage(texture) & WGPUTextureUsage_StorageBinding))
    fail(ErrorCode::invalid_argument, to_texture_op,
         "the texture has neither the usage RenderAttachment (WGPUTextureUsage_RenderAttachment) nor StorageBinding "
         "(WGPUTextureUsage_StorageBinding); one of them is needed.");
  if (format.storage.empty())
    fail(ErrorCode::unsupported, to_texture_op,
         "a texture of the format " + std::string(format.name) +
             " can be written with the usage RenderAttachment only, not with StorageBinding.");
}

TextureTarget checked_target(const Tensor& tensor, WGPUTexture texture, const ToTexture& options,
                             WebGpuBackend& backend) {
  const HostImage image = host_image(to_texture_op, tensor);
  check(texture);
  const TexturePart part = checked_part(to_texture_op, options.part, extent_of(texture, options.part.level));
  check_target(to_texture_op, tensor, image, part.width, part.height);
  TextureTarget target(texture, part, options.flip_y);
  if (target.is_drawn()) backend.host_object_checks().require_drawable(to_texture_op, target);
  return target;
}

void write(ContextState& context, const Tensor& tensor, WGPUTexture texture, const ToTexture& options,
           WebGpuBackend& backend) {
  show(context, tensor, checked_target(tensor, texture, options, backend), options.also_compute);
}

}  // namespace

void to_texture(const Tensor& image, WGPUTexture target, const ToTexture& options) {
  const LockedContext locked(image);
  ContextState& context = *locked;
  context.recovery.run_on_this_device(
      "webgpu::to_texture: nothing was written, and the texture belongs to a lost device; make it again on the one "
      "that webgpu::host_device() gives now, and call again.",
      [&] { write(context, image, target, options, present_backend<WebGpuBackend>(to_texture_op, context)); });
}

Pending<void> prepare_to_texture(const Tensor& image, WGPUTexture target, const ToTexture& options) {
  const LockedContext locked(image);
  ContextState& context = *locked;
  Pending<void> prepared;
  context.recovery.run_on_this_device(
      "webgpu::prepare_to_texture: the texture belongs to a lost device; make it again on the one that "
      "webgpu::host_device() gives now, and call again.",
      [&] {
        WebGpuBackend& backend = present_backend<WebGpuBackend>(to_texture_op, context);
        prepared =
            prepare_to_show(context, image, checked_target(image, target, options, backend), options.also_compute);
      });
  return prepared;
}

void to_texture(const Tensor& image, WGPUTexture target, WGPUCommandEncoder encoder, const ToTexture& options) {
  const LockedContext locked(image);
  ContextState& context = *locked;
  context.recovery.run_on_this_device(
      "webgpu::to_texture: nothing was recorded, and the texture and the command encoder belong to a lost device; make "
      "them again on the one that webgpu::host_device() gives now, and call again.",
      [&] {
        WebGpuBackend& backend = present_backend<WebGpuBackend>(to_texture_op, context);
        const Recording recording(to_texture_op, context, backend, encoder);
        write(context, image, target, options, backend);
      });
}

}  // namespace tessera::webgpu
