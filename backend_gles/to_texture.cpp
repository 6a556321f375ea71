// gles::to_texture
#include "backend_gles/backend.h"
#include "backend_gles/texture_export.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"

namespace tessera::gles {
namespace {

// The size that the host tells, before the driver is asked for the rest.
TexturePart part_of(const HostTexture& host) {
  const TextureExtent trusted{host.width, host.height, 32, 1 << 16};
  return checked_part(to_texture_op, host.part, trusted);
}
TexturePart part_of(const HostFramebuffer& host) { return {.width = host.width, .height = host.height}; }

// Calls work(target).
template <class HostObject, class Work>
void with_target(const Tensor& tensor, const HostObject& host, const ToTextureOptions& options, ContextState& context,
                 const Work& work) {
  const HostImage image = host_image(to_texture_op, tensor);
  const TexturePart part = part_of(host);
  check_target(to_texture_op, tensor, image, part.width, part.height);
  context.recovery.run_on_this_device(
      "gles::to_texture: nothing was written, and the texture or framebuffer is gone with its context; make it again "
      "in one that shares with what gles::host_context() gives now, and call again.",
      [&] {
        const Device& device = *present_backend<GlesBackend>(to_texture_op, context).own_device();
        const CurrentContext current(device.context());  // once for the questions about the target and for the work
        work(TextureExport(Target(device, host), options.flip_y));
      });
}

void check(const HostTexture& target) {
  if (target.target == texture_external)
    fail(ErrorCode::invalid_argument, to_texture_op, "an external texture cannot be drawn to.");
  if (target.channels != "RGBA")
    fail(ErrorCode::invalid_argument, to_texture_op,
         "whole texels are written, but channels is \"" + target.channels + "\".");
}
void check(const HostFramebuffer&) {}

template <class HostObject>
void write(const Tensor& tensor, const HostObject& target, const ToTextureOptions& options) {
  const LockedContext locked(tensor);
  ContextState& context = *locked;
  present_backend<GlesBackend>(to_texture_op, context);
  check(target);
  with_target(tensor, target, options, context,
              [&](const TextureExport& host) { show(context, tensor, host, options.also_compute); });
}

template <class HostObject>
Pending<void> prepare(const Tensor& tensor, const HostObject& target, const ToTextureOptions& options) {
  const LockedContext locked(tensor);
  ContextState& context = *locked;
  present_backend<GlesBackend>(to_texture_op, context);
  check(target);
  Pending<void> prepared;
  with_target(tensor, target, options, context, [&](const TextureExport& host) {
    prepared = prepare_to_show(context, tensor, host, options.also_compute);
  });
  return prepared;
}

}  // namespace

void to_texture(const Tensor& tensor, const HostTexture& target, const ToTextureOptions& options) {
  write(tensor, target, options);
}

void to_texture(const Tensor& tensor, const HostFramebuffer& target, const ToTextureOptions& options) {
  write(tensor, target, options);
}

Pending<void> prepare_to_texture(const Tensor& tensor, const HostTexture& target, const ToTextureOptions& options) {
  return prepare(tensor, target, options);
}

Pending<void> prepare_to_texture(const Tensor& tensor, const HostFramebuffer& target, const ToTextureOptions& options) {
  return prepare(tensor, target, options);
}

}  // namespace tessera::gles
