// DLPack, between core and the backend whose buffers it knows.
#pragma once
#include <functional>
#include <memory>

#include "core/interop/dlpack_abi.h"
#include <tessera/context.h>

namespace tessera {

// A managed tensor over `data`, which `owner` keeps valid.
DLManagedTensorVersioned* managed_tensor(const Tensor&, void* data, std::uint64_t byte_offset, DLDeviceKind,
                                         std::shared_ptr<const void> owner);

namespace webgpu {

// A tensor over the buffer; `owner` goes with it. Throws where the context is on another device.
Tensor borrow_dlpack(Context&, const DLTensor&, const Shape&, DType, std::shared_ptr<const void> owner);

}  // namespace webgpu
}  // namespace tessera
