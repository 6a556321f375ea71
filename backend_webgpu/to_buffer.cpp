// webgpu::to_buffer
#include <algorithm>

#include "backend_webgpu/backend.h"
#include "backend_webgpu/recording.h"
#include "backend_webgpu/storage.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include "core/kernel/host_image.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view to_buffer_op = "webgpu::to_buffer";

// A place in a host's buffer, which is the caller's for the length of the call.
struct BufferPlace {
  WGPUBuffer buffer;
  std::uint64_t offset, bytes;
};

// Copies a tensor there.
class BufferExport final : public HostPass, public WebGpuPass {
 public:
  BufferExport(const BufferPlace& place, DType dtype) : place_(place), dtype_(dtype) {}

  PreparedPass prepare(const PassTools&, const Dispatch& dispatch) const override {
    const BoundBuffer& source = buffer_of(*dispatch.inputs[0].storage);
    PreparedPass pass{};
    pass.copy = {.from = source.handle,
                 .to = place_.buffer,
                 .from_offset = source.offset + byte_count(dispatch.inputs[0].first, dtype_),
                 .to_offset = place_.offset,
                 .bytes = place_.bytes};
    return pass;
  }

 private:
  BufferPlace place_;
  DType dtype_;
};

bool has_usage(WGPUBuffer buffer, WGPUBufferUsage usage) { return (wgpuBufferGetUsage(buffer) & usage) != 0; }

void check(const Tensor& tensor, const BufferPlace& place) {
  if (!place.buffer) fail(ErrorCode::invalid_argument, to_buffer_op, "the buffer is null.");
  check_has_elements(to_buffer_op, tensor.shape());
  const std::string what = "a tensor of " + tensor.shape().to_string() + " " + std::string(to_string(tensor.dtype())) +
                           " at byte " + std::to_string(place.offset) + " takes " + std::to_string(place.bytes) +
                           " bytes";
  const std::uint64_t size = wgpuBufferGetSize(place.buffer);
  if (place.offset % 4 != 0 || place.bytes % 4 != 0)
    fail(ErrorCode::invalid_argument, to_buffer_op,
         what + "; WebGPU writes whole words only: both numbers have to be multiples of 4.");
  if (place.offset > size || place.bytes > size - place.offset)
    fail(ErrorCode::invalid_argument, to_buffer_op, what + ", but the buffer has " + std::to_string(size) + ".");
}

// Whether a kernel can write the place, and nothing but the place.
bool is_for_kernels(const ContextState& context, const Device& device, DType dtype, const BufferPlace& place) {
  if (!has_usage(place.buffer, WGPUBufferUsage_Storage)) return false;
  if (place.offset % device.limits().minStorageBufferOffsetAlignment != 0) return false;
  if (place.bytes % (4 * size_of(dtype)) != 0 || place.bytes > device.info().max_tensor_bytes) return false;
  // A kernel cannot read a buffer that it writes.
  return std::ranges::none_of(context.pool->live(), [&](const std::shared_ptr<Buffer>& buffer) {
    return buffer->is_borrowed() && buffer->is_resident() && buffer_of(buffer->storage()).handle == place.buffer;
  });
}

// Whether copies cannot start at the first element, or cannot be made of its buffer.
bool needs_own_storage(const Node& base, std::int64_t start) {
  return byte_count(start, base.dtype) % 4 != 0 || (base.has_elements() && base.value.buffer->is_borrowed());
}

void write_elements(ContextState& context, const Tensor& tensor, WGPUBuffer buffer, const ToBuffer& options,
                    WebGpuBackend& backend) {
  const BufferPlace place{buffer, options.offset, byte_count(tensor.shape().size(), tensor.dtype())};
  check(tensor, place);
  const bool is_copied = has_usage(buffer, WGPUBufferUsage_CopyDst);
  const bool is_written = is_for_kernels(context, *backend.own_device(), tensor.dtype(), place);
  if (!is_copied && !is_written)
    fail(ErrorCode::invalid_argument, to_buffer_op,
         "the buffer lacks the usage CopyDst (WGPUBufferUsage_CopyDst). Without it, kernels have to write the buffer "
         "themselves: that takes the usage Storage, an offset that is a multiple of " +
             std::to_string(backend.own_device()->limits().minStorageBufferOffsetAlignment) + ", not " +
             std::to_string(options.offset) + ", a multiple of four elements, not " +
             std::to_string(tensor.shape().size()) + ", and no tensor of webgpu::from_buffer in the same buffer.");
  if (is_copied) backend.host_object_checks().require_copy_target(to_buffer_op, buffer);
  if (is_written) backend.host_object_checks().require_buffer(to_buffer_op, buffer, place.offset, place.bytes);

  const NodePtr& node = TensorAccess::node(context, tensor);
  const Location location = location_of(node.get());
  const Tensor written =
      needs_own_storage(*location.node, location.start()) ? TensorAccess::tensor(copy_of(node)) : tensor;
  const BufferExport copy(place, tensor.dtype());
  write_to_host(context, written, is_written ? backend.borrow(buffer, place.offset, place.bytes) : nullptr,
                is_copied ? &copy : nullptr, options.also_compute);
}

}  // namespace

void to_buffer(const Tensor& tensor, WGPUBuffer target, const ToBuffer& options) {
  const LockedContext locked(tensor);
  ContextState& context = *locked;
  context.recovery.run_on_this_device(
      "webgpu::to_buffer: nothing was written, and the buffer belongs to a lost device; make it again on the one that "
      "webgpu::host_device() gives now, and call again.",
      [&] { write_elements(context, tensor, target, options, present_backend<WebGpuBackend>(to_buffer_op, context)); });
}

void to_buffer(const Tensor& tensor, WGPUBuffer target, WGPUCommandEncoder encoder, const ToBuffer& options) {
  const LockedContext locked(tensor);
  ContextState& context = *locked;
  context.recovery.run_on_this_device(
      "webgpu::to_buffer: nothing was recorded, and the buffer and the command encoder belong to a lost device; make "
      "them again on the one that webgpu::host_device() gives now, and call again.",
      [&] {
        WebGpuBackend& backend = present_backend<WebGpuBackend>(to_buffer_op, context);
        const Recording recording(to_buffer_op, context, backend, encoder);
        write_elements(context, tensor, target, options, backend);
      });
}

}  // namespace tessera::webgpu
