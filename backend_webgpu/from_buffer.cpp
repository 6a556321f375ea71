#include "backend_webgpu/backend.h"
#include "backend_webgpu/copying_pass.h"
#include "backend_webgpu/storage.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view from_buffer_op = "webgpu::from_buffer";

// All that can be told without Dawn's word.
void check(WGPUBuffer buffer, const Shape& shape, DType dtype, std::uint64_t offset) {
  if (!buffer) refuse(from_buffer_op, ErrorCode::invalid_argument, "the buffer is null.");
  const std::uint64_t size = wgpuBufferGetSize(buffer), element = size_of(dtype);
  const std::uint64_t bytes = byte_count(shape.size(), dtype);
  if (bytes == 0)
    refuse(from_buffer_op, ErrorCode::invalid_argument,
           "a tensor of " + shape.to_string() + " has no elements to be read.");
  if (offset % element != 0)
    refuse(from_buffer_op, ErrorCode::invalid_argument,
           "the offset of " + std::to_string(offset) + " bytes is no multiple of the " + std::to_string(element) +
               " bytes that an element of " + std::string(to_string(dtype)) + " has.");
  if (!(wgpuBufferGetUsage(buffer) & WGPUBufferUsage_Storage))
    refuse(from_buffer_op, ErrorCode::invalid_argument,
           "the buffer lacks the usage Storage (WGPUBufferUsage_Storage), without which no kernel can read it.");
  if (offset > size || bytes > size - offset)
    refuse(from_buffer_op, ErrorCode::invalid_argument,
           "a tensor of " + shape.to_string() + " " + std::string(to_string(dtype)) + " at byte " +
               std::to_string(offset) + " needs " + std::to_string(bytes) + " bytes, but the buffer has " +
               std::to_string(size) + ".");
  if (offset + bytes > size / 4 * 4)
    refuse(from_buffer_op, ErrorCode::unsupported,
           "the last element is in the last " + std::to_string(size % 4) + " bytes of a buffer of " +
               std::to_string(size) + " bytes; WebGPU lets kernels read whole words of 4 bytes only.");
}

}  // namespace

Tensor from_buffer(Context& context, WGPUBuffer buffer, const Shape& shape, DType dtype, const FromBuffer& options) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  WebGpuBackend& backend = webgpu_backend(from_buffer_op, impl);
  check(buffer, shape, dtype, options.offset);
  const Device& device = backend.own_device();
  const std::uint64_t alignment = device.limits().minStorageBufferOffsetAlignment, element = size_of(dtype);
  const std::uint64_t skip = options.offset % alignment;
  const BufferPart part{options.offset - skip, skip, byte_count(shape.size(), dtype)};
  if (part.bound_bytes() > device.info().max_tensor_bytes)
    refuse(from_buffer_op, ErrorCode::out_of_memory,
           "a tensor of " + shape.to_string() + " " + std::string(to_string(dtype)) + " at byte " +
               std::to_string(options.offset) + " takes a binding of " + std::to_string(part.bound_bytes()) +
               " bytes, more than the " + std::to_string(device.info().max_tensor_bytes) + " bytes that " +
               device.info().name + " can bind.");
  backend.lent_checks().require_usable(from_buffer_op, buffer, part.offset, part.bound_bytes());

  // Kernels read whole texels: where the last one goes beyond the buffer, only a copy has it.
  const std::uint64_t texels = round_up(part.skip + part.bytes, 4 * element);
  const std::uint64_t there_is = (wgpuBufferGetSize(buffer) - part.offset) / 4 * 4;
  if (!options.zero_copy || texels > there_is) return imported_tensor(impl, shape, dtype, copying_pass(buffer, part));

  const auto first = static_cast<std::int64_t>(part.skip / element);
  const Shape all{first + shape.size()};
  Tensor whole = borrowed_tensor(impl, all, dtype, backend.borrow(buffer, part.offset, texels));
  if (first == 0 && shape == all) return whole;
  return TensorAccess::tensor(std::make_shared<Node>(impl.owner.shared_from_this(), shape, dtype, View{first},
                                                     std::vector{TensorAccess::held(whole)}));
}

}  // namespace tessera::webgpu
