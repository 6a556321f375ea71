// gles::data_to_gpu
#include <algorithm>

#include "backend_gles/backend.h"
#include "backend_gles/storage.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include "core/kernel/host_image.h"

namespace tessera::gles {
namespace {

constexpr std::string_view data_to_gpu_op = "gles::data_to_gpu";

std::string text_of(const TexShape& shape) {
  return "[" + std::to_string(shape.height) + "," + std::to_string(shape.width) + "]";
}

void check_tex_shape(const TexShape& tex_shape, const Shape& shape, const Device& device) {
  const std::int64_t texels = std::int64_t{tex_shape.height} * tex_shape.width, needed = texel_count(shape.size());
  const auto refuse = [&](const std::string& why) {
    fail(ErrorCode::invalid_argument, data_to_gpu_op,
         "custom_tex_shape " + text_of(tex_shape) + " for a tensor of " + shape.to_string() + ": " + why);
  };
  if (tex_shape.height <= 0 || tex_shape.width <= 0) refuse("both sides must be at least 1.");
  if (std::max(tex_shape.height, tex_shape.width) > device.max_side())
    refuse("a side has at most " + std::to_string(device.max_side()) + " texels on " + device.info().name + ".");
  if (texels < needed)
    refuse("it has " + std::to_string(texels) + " texels, but " + std::to_string(needed) + " are needed.");
}

}  // namespace

GpuData data_to_gpu(const Tensor& tensor, const GpuDataOptions& options) {
  const LockedContext locked(tensor);
  ContextState& context = *locked;
  const Device& device = *backend_of<GlesBackend>(data_to_gpu_op, context).own_device();
  check_has_elements(data_to_gpu_op, tensor.shape());
  Lease leased;
  if (options.custom_tex_shape) {
    const auto [height, width] = *options.custom_tex_shape;
    check_tex_shape(*options.custom_tex_shape, tensor.shape(), device);
    leased = lease(context, tensor, layout_of({width, height}), layout_of_storage);
  } else {
    leased = lease(context, tensor);
    const StorageSpec own{tensor.dtype(), tensor.shape().size()};
    if (!leased.is_whole) leased = lease(context, tensor, layout_of(extent_of(own)), layout_of_storage);
  }
  const TextureStorage& texture = texture_of(*leased.storage);
  device.own_textures().lend(texture.texture(), TensorAccess::node(context, leased.tensor)->value.buffer->lend());
  return {.texture = texture.texture(),
          .tex_shape = {texture.height(), texture.width()},
          .internal_format = format_of(tensor.dtype()).internal,
          .dtype = tensor.dtype(),
          .tensor_ref = std::move(leased.tensor)};
}

}  // namespace tessera::gles
