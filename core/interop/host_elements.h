// The elements of a tensor in host memory, as they lie on the device: row-major, in the tensor's own type.
#pragma once
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <tessera/tensor.h>

namespace tessera {

// Copies refer to the same elements.
class HostElements {
 public:
  HostElements() = default;
  template <class T>
  explicit HostElements(std::vector<T> elements) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(elements));
    bytes_ = std::as_bytes(std::span(*owner));
    owner_ = std::move(owner);
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

// Computes the tensor and waits for it. Elements on the host are taken from there: reading moves nothing to the device.
HostElements read_elements(const Tensor&);

}  // namespace tessera
