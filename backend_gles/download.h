// Copies of textures to the host that run beside everything else: into a buffer, with a fence behind it.
#pragma once
#include <optional>

#include "backend_gles/storage.h"
#include "backend_gles/wait.h"

namespace tessera::gles {

class TextureDownload final : public Download {
 public:
  TextureDownload(std::shared_ptr<const Device>, const TextureStorage&, DType, std::int64_t first, std::int64_t count);

  bool ready() override;
  void wait() override;
  void take(std::span<std::byte>) override;

 private:
  std::shared_ptr<const Device> device_;
  std::uint64_t bytes_of(std::int64_t elements) const;  // in the buffer

  DType dtype_;
  std::int64_t first_;  // element in the buffer
  std::int64_t count_;
  bool is_wide_ = false;  // the buffer holds 32 bits for each element of a narrower type
  Buffer buffer_;
  std::optional<Fence> fence_;
};

// Reads a texture when its elements are taken, right into the caller's memory: drivers copy them once, and not into a
// buffer first.
class DirectDownload final : public Download {
 public:
  static bool can_read(const Device&, DType);  // elements of types that every driver reads
  DirectDownload(std::shared_ptr<const Device>, const TextureStorage&, DType, std::int64_t first, std::int64_t count);

  bool ready() override { return true; }
  void wait() override {}
  void take(std::span<std::byte>) override;

 private:
  std::shared_ptr<const Device> device_;
  const TextureStorage& storage_;
  DType dtype_;
  std::int64_t first_, count_;
};

}  // namespace tessera::gles
