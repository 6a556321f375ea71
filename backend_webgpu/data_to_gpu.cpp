// webgpu::data_to_gpu
#include "backend_webgpu/backend.h"
#include "backend_webgpu/storage.h"
#include "core/interop/backend_of.h"
#include "core/kernel/host_image.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {

GpuData data_to_gpu(const Tensor& tensor) {
  constexpr std::string_view op = "webgpu::data_to_gpu";
  const LockedContext locked(tensor);
  ContextState& context = *locked;
  backend_of<WebGpuBackend>(op, context);
  check_has_elements(op, tensor.shape());
  Lease leased = lease(context, tensor);
  const BoundBuffer& buffer = buffer_of(*leased.storage);
  return {.buffer = buffer.handle,
          .offset = buffer.offset + byte_count(leased.offset, tensor.dtype()),
          .buf_size = byte_count(tensor.shape().size(), tensor.dtype()),
          .usage = wgpuBufferGetUsage(buffer.handle),
          .tensor_ref = std::move(leased.tensor)};
}

}  // namespace tessera::webgpu
