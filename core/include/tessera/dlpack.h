// DLPack: tensors to and from other libraries, without a file in between (https://dmlc.github.io/dlpack).
//
//   DLManagedTensorVersioned* there = tessera::to_dlpack(tensor);    // in host memory; the taker calls its deleter
//   tessera::Tensor here = tessera::from_dlpack(gpu, from_another_library);
//
// Include <dlpack/dlpack.h> too where you look into these structs; tessera does not need it.
#pragma once
#include <tessera/context.h>

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace tessera {

// The elements in host memory (kDLCPU), row-major. Computes the tensor and waits.
TESSERA_API DLManagedTensorVersioned* to_dlpack(const Tensor&);

// Takes the tensor over, and calls its deleter once nobody needs the elements, at once where they are copied; if this
// throws, the tensor still belongs to the caller. Host memory (kDLCPU), with any strides, is copied. A WebGPU buffer
// (kDLWebGPU, `data` is the WGPUBuffer) is used without a copy by a context on the device that it belongs to.
TESSERA_API Tensor from_dlpack(Context&, DLManagedTensorVersioned*);
TESSERA_API Tensor from_dlpack(Context&, DLManagedTensor*);  // of the time before DLPack 1.0

namespace webgpu {

// The tensor's own buffer (kDLWebGPU), without a copy and without waiting: `data` is the WGPUBuffer, byte_offset where
// the elements start. The buffer is lent until the deleter is called.
TESSERA_API DLManagedTensorVersioned* to_dlpack(const Tensor&);

}  // namespace webgpu
}  // namespace tessera
