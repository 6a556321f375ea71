// Copies of a buffer's elements that programs have laid out for their kernels (core/run/captured_pixels.h). Programs
// hold them, and share those that are laid out alike. They may be all that the device has of the elements.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera {

class Buffer;

class LaidOutCopies {
 public:
  void add(std::string layout, std::uint64_t version, const std::shared_ptr<Buffer>&);
  // The copy in this layout of this version of the elements; null where the device has none.
  std::shared_ptr<Buffer> find(const std::string& layout, std::uint64_t version) const;
  bool has(const Buffer& copy, std::uint64_t version) const;  // likewise, without a look at the layout
  std::vector<std::shared_ptr<Buffer>> on_device() const;     // all of them
  std::uint64_t device_bytes() const;

 private:
  struct Copy {
    std::string layout;
    std::uint64_t version;
    std::weak_ptr<Buffer> buffer;
  };
  std::vector<Copy> copies_;
};

}  // namespace tessera
