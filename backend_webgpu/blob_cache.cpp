#include "backend_webgpu/blob_cache.h"

#include <algorithm>

#include "backend_webgpu/handle.h"

namespace tessera::webgpu {
namespace {

std::span<const std::byte> bytes_at(const void* data, std::size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

}  // namespace

BlobCache::BlobCache(const std::filesystem::path& folder, const DeviceInfo& info, const MessageSink& messages)
    : files_(folder, info.vendor + '\n' + info.name + '\n' + info.driver, messages) {}

WGPUDawnCacheDeviceDescriptor BlobCache::descriptor() {
  WGPUDawnCacheDeviceDescriptor descriptor{};
  descriptor.chain.sType = WGPUSType_DawnCacheDeviceDescriptor;
  descriptor.isolationKey = view_of("tessera");
  descriptor.functionUserdata = this;
  descriptor.loadDataFunction = [](const void* key, std::size_t key_size, void* value, std::size_t value_size,
                                   void* cache) {
    return static_cast<BlobCache*>(cache)->load(bytes_at(key, key_size), {static_cast<std::byte*>(value), value_size});
  };
  descriptor.storeDataFunction = [](const void* key, std::size_t key_size, const void* value, std::size_t value_size,
                                    void* cache) {
    static_cast<BlobCache*>(cache)->files_.store(bytes_at(key, key_size), bytes_at(value, value_size));
  };
  return descriptor;
}

BlobLookups BlobCache::lookups() const {
  const std::scoped_lock hold(lock_);
  return lookups_;
}

std::size_t BlobCache::load(std::span<const std::byte> key, std::span<std::byte> to) {
  const std::thread::id thread = std::this_thread::get_id();
  if (to.empty()) {
    std::vector<std::byte> value = files_.load(key);
    const std::size_t size = value.size();
    const std::scoped_lock hold(lock_);
    ++(size > 0 ? lookups_.hits : lookups_.misses);
    if (size > 0) loaded_[thread] = std::move(value);
    return size;
  }
  // The bytes of the size that was told, whatever has become of the file meanwhile.
  const std::scoped_lock hold(lock_);
  const auto value = loaded_.extract(thread);
  if (!value || value.mapped().size() != to.size()) return 0;
  std::ranges::copy(value.mapped(), to.begin());
  return to.size();
}

}  // namespace tessera::webgpu
