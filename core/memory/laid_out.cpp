#include "core/memory/laid_out.h"

#include <algorithm>
#include <utility>

#include "core/memory/pool.h"

namespace tessera {

void LaidOutCopies::add(std::string layout, std::uint64_t version, const std::shared_ptr<Buffer>& buffer) {
  std::erase_if(copies_, [&](const Copy& copy) { return copy.layout == layout || copy.buffer.expired(); });
  copies_.push_back({std::move(layout), version, buffer});
}

std::shared_ptr<Buffer> LaidOutCopies::find(const std::string& layout, std::uint64_t version) const {
  for (const Copy& copy : copies_) {
    if (copy.version != version || copy.layout != layout) continue;
    std::shared_ptr<Buffer> buffer = copy.buffer.lock();
    return buffer && buffer->is_resident() ? buffer : nullptr;
  }
  return nullptr;
}

bool LaidOutCopies::has(const Buffer& wanted, std::uint64_t version) const {
  return wanted.is_resident() && std::ranges::any_of(copies_, [&](const Copy& copy) {
           return copy.version == version && copy.buffer.lock().get() == &wanted;
         });
}

std::vector<std::shared_ptr<Buffer>> LaidOutCopies::on_device() const {
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (const Copy& copy : copies_)
    if (std::shared_ptr<Buffer> buffer = copy.buffer.lock(); buffer && buffer->is_resident())
      buffers.push_back(std::move(buffer));
  return buffers;
}

std::uint64_t LaidOutCopies::device_bytes() const {
  std::uint64_t bytes = 0;
  for (const std::shared_ptr<Buffer>& buffer : on_device()) bytes += buffer->device_bytes();
  return bytes;
}

}  // namespace tessera
