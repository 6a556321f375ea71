// gles::data_to_gpu
#include <algorithm>

#include "backend_gles/interop.h"
#include "backend_gles/storage.h"

namespace tessera::gles {
namespace {

std::string text_of(const TexShape& shape) {
  return "[" + std::to_string(shape.height) + "," + std::to_string(shape.width) + "]";
}

void check_tex_shape(const TexShape& wanted, const Shape& shape, const Device& device) {
  const std::int64_t texels = std::int64_t{wanted.height} * wanted.width, needed = (shape.size() + 3) / 4;
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "data_to_gpu: custom_tex_shape " + text_of(wanted) + " for a tensor of " +
                                                 shape.to_string() + ": " + why);
  };
  if (wanted.height <= 0 || wanted.width <= 0) fail("both sides must be at least 1.");
  if (std::max(wanted.height, wanted.width) > device.max_side())
    fail("a side has at most " + std::to_string(device.max_side()) + " texels on " + device.info().name + ".");
  if (texels < needed)
    fail("it has " + std::to_string(texels) + " texels, but " + std::to_string(needed) + " are needed.");
}

}  // namespace

GpuData data_to_gpu(const Tensor& tensor, const GpuDataOptions& options) {
  const LockedContext locked(tensor);
  ContextState& impl = *locked;
  const NodePtr& node = TensorAccess::node(impl, tensor);
  const Device& device = *backend_of("data_to_gpu", impl).gl_device();
  if (node->shape.size() == 0)
    throw Error(ErrorCode::invalid_argument,
                "data_to_gpu: a tensor of " + node->shape.to_string() + " has no elements, and so no texture.");
  Lease leased;
  if (options.custom_tex_shape) {
    const auto [height, width] = *options.custom_tex_shape;
    check_tex_shape(*options.custom_tex_shape, node->shape, device);
    leased = lease(impl, tensor, layout_of({width, height}), layout_of_storage);
  } else {
    leased = lease(impl, tensor);
    const StorageSpec own{node->dtype, node->shape.size()};
    if (!leased.is_whole) leased = lease(impl, tensor, layout_of(extent_of(own)), layout_of_storage);
  }
  auto& texture = static_cast<TextureStorage&>(*leased.storage);
  texture.lend(TensorAccess::node(impl, leased.tensor)->value.buffer);
  return {.texture = texture.texture(),
          .tex_shape = {texture.height(), texture.width()},
          .internal_format = format_of(node->dtype).internal,
          .dtype = node->dtype,
          .tensor_ref = std::move(leased.tensor)};
}

}  // namespace tessera::gles
