// Reads in a host's GL context, which only the host's own thread can finish.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/kernel/backend.h"

namespace tessera {

// All calls are made under the context's lock.
class HostRead {
 public:
  HostRead(std::unique_ptr<Download> download, std::size_t bytes) : download_(std::move(download)), bytes_(bytes) {}

  bool is_ready() const;  // never waits; a read that failed is ready to say so
  void take(std::span<std::byte>);
  void keep();  // the elements, on the host: the device is about to go

 private:
  std::unique_ptr<Download> download_;  // null once the elements are here
  std::size_t bytes_;
  std::vector<std::byte> elements_;
};

}  // namespace tessera
