#include "core/interop/dlpack.h"

#include "backend_webgpu/backend.h"
#include "backend_webgpu/storage.h"
#include "core/interop/backend_of.h"
#include <tessera/dlpack.h>
#include <tessera/webgpu.h>

namespace tessera::webgpu {

DLManagedTensorVersioned* to_dlpack(const Tensor& tensor) {
  auto lent = std::make_shared<GpuData>(data_to_gpu(tensor));
  void* buffer = lent->buffer;
  const std::uint64_t offset = lent->offset;
  return managed_tensor(tensor, buffer, offset, kDLWebGPU, std::move(lent));
}

Tensor borrow_dlpack(Context& context, const DLTensor& tensor, const Shape& shape, DType dtype,
                     std::shared_ptr<const void> owner) {
  Tensor made =
      from_buffer(context, static_cast<WGPUBuffer>(tensor.data), shape, dtype, {.offset = tensor.byte_offset});
  made.compute();  // copies a buffer that kernels cannot read in place, and whose owner can go then
  const LockedContext locked(context);
  ContextState& impl = *locked;
  const Buffer& buffer = *location_of(TensorAccess::node(impl, made).get()).node->value.buffer;
  if (auto& storage = static_cast<BufferStorage&>(buffer.storage()); storage.is_borrowed())
    storage.keep(std::move(owner));
  return made;
}

}  // namespace tessera::webgpu
