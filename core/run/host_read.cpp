#include "core/run/host_read.h"

#include <algorithm>

namespace tessera {

bool HostRead::is_ready() const {
  try {
    return !download_ || download_->ready();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::wrong_thread) throw;
    return true;
  }
}

void HostRead::take(std::span<std::byte> to) {
  if (!download_) {
    std::ranges::copy(elements_, to.begin());
    return;
  }
  download_->wait();
  download_->take(to);
}

void HostRead::keep() {
  if (!download_) return;
  std::vector<std::byte> elements(bytes_);
  take(elements);
  elements_ = std::move(elements);
  download_ = nullptr;
}

}  // namespace tessera
