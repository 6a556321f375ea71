// A pass that copies a part of a buffer, from any byte on, into a storage.
#pragma once
#include <memory>

#include "backend_webgpu/host_pass.h"

namespace tessera::webgpu {

// The part of a buffer that is bound, and where the elements are in it.
struct BufferPart {
  std::uint64_t offset;  // a multiple of minStorageBufferOffsetAlignment
  std::uint64_t skip;    // from there to the first element
  std::uint64_t bytes;   // of the elements

  std::uint64_t bound_bytes() const { return round_up(skip + bytes, 4); }
};

// The buffer has the usage Storage.
std::unique_ptr<HostPass> copying_pass(WGPUBuffer, const BufferPart&);

}  // namespace tessera::webgpu
