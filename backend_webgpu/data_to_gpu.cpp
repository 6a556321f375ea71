#include "backend_webgpu/backend.h"
#include "backend_webgpu/storage.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {

GpuData data_to_gpu(const Tensor& tensor) {
  constexpr std::string_view op = "webgpu::data_to_gpu";
  const LockedContext locked(tensor);
  ContextState& context = *locked;
  webgpu_backend(op, context);
  if (tensor.shape().size() == 0)
    refuse(op, ErrorCode::invalid_argument, "a tensor of " + tensor.shape().to_string() + " has no elements.");
  Lease leased = lease(context, tensor);
  const BoundBuffer& buffer = buffer_of(*leased.storage);
  return {.buffer = buffer.handle,
          .offset = buffer.offset + byte_count(leased.offset, tensor.dtype()),
          .buf_size = byte_count(tensor.shape().size(), tensor.dtype()),
          .usage = wgpuBufferGetUsage(buffer.handle),
          .tensor_ref = std::move(leased.tensor)};
}

}  // namespace tessera::webgpu
