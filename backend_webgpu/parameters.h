// The parameter words of all dispatches of a run, in one uniform buffer that is written once.
//
// The buffer is used again by the next run: the queue keeps writes and dispatches in order.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/device.h"

namespace tessera::webgpu {

// Uniform arrays are made of vectors of four words.
constexpr std::uint64_t parameter_vectors(std::size_t words) { return (words + 3) / 4; }
constexpr std::uint64_t parameter_bytes(std::size_t words) { return parameter_vectors(words) * 16; }

class Parameters {
 public:
  Parameters(std::shared_ptr<Device> device, std::shared_ptr<BindGroups> bind_groups)
      : device_(std::move(device)), bind_groups_(std::move(bind_groups)) {}

  void clear() { words_.clear(); }
  std::uint32_t add(std::span<const std::uint32_t> words);  // gives the dispatch's offset in bytes
  const BoundBuffer& upload();

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<BindGroups> bind_groups_;
  std::vector<std::uint32_t> words_;
  Handle<WGPUBuffer> handle_;
  BoundBuffer buffer_;
};

}  // namespace tessera::webgpu
