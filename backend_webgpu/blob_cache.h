// What Dawn keeps on disk of a device's shaders and pipelines, under keys of its own.
#pragma once
#include <webgpu/webgpu.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "core/platform/disk_cache.h"

namespace tessera::webgpu {

// How often Dawn has asked for a part of a pipeline, so far.
struct BlobLookups {
  std::uint64_t hits = 0, misses = 0;

  // Whether all parts of a pipeline that was made since then were there, and nothing had to be compiled.
  bool are_hits_since(const BlobLookups& before) const { return hits > before.hits && misses == before.misses; }
};

class BlobCache {
 public:
  BlobCache(const std::filesystem::path& folder, const DeviceInfo&, const MessageSink&);
  BlobCache(const BlobCache&) = delete;
  BlobCache& operator=(const BlobCache&) = delete;

  WGPUDawnCacheDeviceDescriptor descriptor();  // for a device that this outlives
  BlobLookups lookups() const;

 private:
  // Dawn asks twice, for the size and then for the bytes: 0 where there are none.
  std::size_t load(std::span<const std::byte> key, std::span<std::byte> to);

  DiskCache files_;
  mutable std::mutex lock_;                                   // guards what follows
  std::map<std::thread::id, std::vector<std::byte>> loaded_;  // of threads that have asked once
  BlobLookups lookups_;
};

}  // namespace tessera::webgpu
