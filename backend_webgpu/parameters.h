// The parameter words of all dispatches of a run, in one uniform buffer that is written once.
//
// A write costs the driver a copy and a barrier, so the buffers of the last few runs are kept: a run whose words are
// in one of these buffers writes nothing, as in every frame of a loop. Another run may overwrite them: the queue keeps
// writes and dispatches in order. Runs that are recorded into a host's commands get a buffer of their own each until
// the host has submitted them, since writes are not recorded.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/device.h"

namespace tessera::webgpu {

// Uniform arrays are made of vectors of four words.
constexpr std::uint64_t parameter_vectors(std::size_t words) { return steps_to(words, 4); }
constexpr std::uint64_t parameter_bytes(std::size_t words) { return parameter_vectors(words) * 16; }

class Parameters {
 public:
  Parameters(std::shared_ptr<Device> device, std::shared_ptr<BindGroups> bind_groups)
      : device_(std::move(device)), bind_groups_(std::move(bind_groups)) {}

  void clear() { words_.clear(); }
  std::uint32_t begin_dispatch();                  // gives the offset of its words in bytes
  void add(std::span<const std::uint32_t> words);  // in whole vectors
  std::uint64_t bytes_since(std::uint32_t offset) const { return words_.size() * 4 - offset; }
  enum class Use { now, recorded };
  BoundBuffer upload(Use);
  void submitted();  // the runs that were recorded so far
  void trim();       // between runs, and after BindGroups::forget_all()

 private:
  struct Block {
    Handle<WGPUBuffer> handle;
    BoundBuffer buffer;
    std::vector<std::uint32_t> words;  // that were written
  };
  const BoundBuffer& write(Block&);
  void grow(Block&, std::uint64_t bytes);

  std::shared_ptr<Device> device_;
  std::shared_ptr<BindGroups> bind_groups_;
  std::vector<std::uint32_t> words_;
  std::vector<Block> now_;  // the one that was used last comes first
  std::vector<Block> recorded_, free_;
};

}  // namespace tessera::webgpu
