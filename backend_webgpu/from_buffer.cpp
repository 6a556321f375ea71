// webgpu::from_buffer
#include "backend_webgpu/backend.h"
#include "backend_webgpu/copying_pass.h"
#include "backend_webgpu/storage.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include "core/kernel/host_image.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view from_buffer_op = "webgpu::from_buffer";

// The checks that Dawn is not needed for.
void check(WGPUBuffer buffer, const Shape& shape, DType dtype, std::uint64_t offset) {
  if (!buffer) fail(ErrorCode::invalid_argument, from_buffer_op, "the buffer is null.");
  const std::uint64_t size = wgpuBufferGetSize(buffer), element = size_of(dtype);
  const std::uint64_t bytes = byte_count(shape.size(), dtype);
  check_has_elements(from_buffer_op, shape);
  if (offset % element != 0)
    fail(ErrorCode::invalid_argument, from_buffer_op,
         "the offset of " + std::to_string(offset) + " bytes is no multiple of the " + std::to_string(element) +
             " bytes that an element of " + std::string(to_string(dtype)) + " has.");
  if (!(wgpuBufferGetUsage(buffer) & WGPUBufferUsage_Storage))
    fail(ErrorCode::invalid_argument, from_buffer_op,
         "the buffer lacks the usage Storage (WGPUBufferUsage_Storage), without which no kernel can read it.");
  if (offset > size || bytes > size - offset)
    fail(ErrorCode::invalid_argument, from_buffer_op,
         "a tensor of " + shape.to_string() + " " + std::string(to_string(dtype)) + " at byte " +
             std::to_string(offset) + " needs " + std::to_string(bytes) + " bytes, but the buffer has " +
             std::to_string(size) + ".");
  if (offset + bytes > size / 4 * 4)
    fail(ErrorCode::unsupported, from_buffer_op,
         "the last element is in the last " + std::to_string(size % 4) + " bytes of a buffer of " +
             std::to_string(size) + " bytes; WebGPU lets kernels read whole words of 4 bytes only.");
}

}  // namespace

Tensor from_buffer(Context& context, WGPUBuffer buffer, const Shape& shape, DType dtype, const FromBuffer& options) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  WebGpuBackend& backend = backend_of<WebGpuBackend>(from_buffer_op, impl);
  check(buffer, shape, dtype, options.offset);
  const Device& device = *backend.own_device();
  const std::uint64_t alignment = device.limits().minStorageBufferOffsetAlignment, element = size_of(dtype);
  const std::uint64_t skip = options.offset % alignment;
  const BufferPart part{options.offset - skip, skip, byte_count(shape.size(), dtype)};
  if (part.bound_bytes() > device.info().max_tensor_bytes)
    fail(ErrorCode::out_of_memory, from_buffer_op,
         "a tensor of " + shape.to_string() + " " + std::string(to_string(dtype)) + " at byte " +
             std::to_string(options.offset) + " takes a binding of " + std::to_string(part.bound_bytes()) +
             " bytes, more than the " + std::to_string(device.info().max_tensor_bytes) + " bytes that " +
             device.info().name + " can bind.");
  backend.host_object_checks().require_buffer(from_buffer_op, buffer, part.offset, part.bound_bytes());

  // Kernels read whole texels: where the last one goes beyond the buffer, only a copy has it.
  const std::uint64_t texels = round_up(part.skip + part.bytes, 4 * element);
  const std::uint64_t readable = (wgpuBufferGetSize(buffer) - part.offset) / 4 * 4;
  if (!options.zero_copy || texels > readable) return imported_tensor(impl, shape, dtype, copying_pass(buffer, part));

  const auto first = narrow<std::int64_t>(part.skip / element);
  const Shape all{first + shape.size()};
  Tensor whole = borrowed_tensor(impl, all, dtype, backend.borrow(buffer, part.offset, texels));
  if (first == 0 && shape == all) return whole;
  return TensorAccess::tensor(
      make_node(impl.owner.shared_from_this(), shape, dtype, View{first}, std::vector{TensorAccess::held(whole)}));
}

}  // namespace tessera::webgpu
