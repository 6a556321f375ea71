// gles::to_texture
#include "backend_gles/export_pass.h"
#include "backend_gles/interop.h"

namespace tessera::gles {
namespace {

struct Dims {
  std::int64_t height, width, channels;
};

Dims dims_of_image(const Shape& shape) {
  const std::size_t rank = shape.dims().size();
  const bool is_batch_of_one = rank == 4 && shape.dims()[0] == 1;
  if (rank == 2) return {shape.dims()[0], shape.dims()[1], 1};
  if (rank == 3 || is_batch_of_one) {
    const auto* dims = shape.dims().data() + (rank - 3);
    if (dims[2] >= 1 && dims[2] <= 4) return {dims[0], dims[1], dims[2]};
  }
  throw Error(ErrorCode::shape_mismatch, "to_texture: a tensor of " + shape.to_string() +
                                             " is no image of [height, width] or [height, width, 1..4].");
}

ExportedImage checked_image(const ContextState& context, const Tensor& tensor, std::int64_t width, std::int64_t height,
                            bool flip_y) {
  const NodeInfo& node = TensorAccess::info(tensor);
  const Dims dims = dims_of_image(node.shape);
  if (node.dtype != DType::f32 && node.dtype != DType::f16 && node.dtype != DType::u8)
    throw Error(ErrorCode::dtype_mismatch, "to_texture: images are of f32, f16 or u8, but the tensor is of " +
                                               std::string(to_string(node.dtype)) + ".");
  if (node.shape.size() == 0)
    throw Error(ErrorCode::invalid_argument, "to_texture: a tensor of " + node.shape.to_string() + " has no elements.");
  if (width != dims.width || height != dims.height)
    throw Error(ErrorCode::shape_mismatch, "to_texture: a tensor of " + node.shape.to_string() +
                                               " does not fit a target of width " + std::to_string(width) +
                                               " and height " + std::to_string(height) + ".");
  return {.dtype = node.dtype,
          .width = static_cast<int>(dims.width),
          .height = static_cast<int>(dims.height),
          .channels = static_cast<int>(dims.channels),
          .first = first_element(context, tensor),
          .flip_y = flip_y};
}

constexpr std::string_view lost_target =
    "to_texture: nothing was written, and the texture or framebuffer is gone with its context; make it again in one "
    "that shares with what gles::host_context() gives now, and call again.";

}  // namespace

void to_texture(const Tensor& tensor, const HostTexture& target, const ToTextureOptions& options) {
  const LockedContext locked(tensor);
  ContextState& impl = *locked;
  present_backend("to_texture", impl);
  const ExportedImage image = checked_image(impl, tensor, target.width, target.height, options.flip_y);
  if (target.is_external || target.channels != "RGBA")
    throw Error(ErrorCode::invalid_argument,
                target.is_external
                    ? "to_texture: an external texture cannot be drawn to."
                    : "to_texture: whole texels are written, but channels is \"" + target.channels + "\".");
  impl.recovery.run_on_this_device(lost_target, [&] {
    {
      const Device& device = *present_backend("to_texture", impl).gl_device();
      const Entered entered(device, touch::texture | state::draw_framebuffer);
      require_writable_texture(device, target.texture);
      traits_of(device, target, "to_texture");
    }
    run_pass(impl, tensor, ExportPass(image, target), options.also_compute);
  });
}

void to_texture(const Tensor& tensor, const HostFramebuffer& target, const ToTextureOptions& options) {
  const LockedContext locked(tensor);
  ContextState& impl = *locked;
  present_backend("to_texture", impl);
  const ExportedImage image = checked_image(impl, tensor, target.width, target.height, options.flip_y);
  impl.recovery.run_on_this_device(lost_target,
                                   [&] { run_pass(impl, tensor, ExportPass(image, target), options.also_compute); });
}

}  // namespace tessera::gles
