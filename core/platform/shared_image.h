// An image in memory that several devices of one Vulkan driver see: one backend copies a tensor into it, another copies
// it out, without the host.
//
// The image belongs to a Vulkan device that neither backend knows: its pixels outlive the loss of their devices.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/platform/driver_start.h"
#include <tessera/dtype.h>

namespace tessera {

class Storage;

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd();

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

  static Fd copy_of(int fd);  // throws io

 private:
  int fd_ = -1;
};

// Sleeps until whoever fills this dma-buf is done with what is submitted so far.
void wait_for_writers(int dma_buf);

// Four elements a texel, as in a texture of the OpenGL ES backend; a row is a multiple of 256 bytes, as copies between
// buffers and textures ask for in WebGPU.
struct ImageSpec {
  DType dtype;  // boolean and u8 are alike
  std::uint32_t width, height;

  bool operator==(const ImageSpec&) const = default;
  std::uint64_t texel_bytes() const { return 4 * size_of(dtype); }
  std::uint64_t bytes() const { return texel_bytes() * width * height; }
};
ImageSpec image_for(DType, std::int64_t elements);  // about as wide as high

class SharedImage {
 public:
  virtual ~SharedImage() = default;

  // The memory, for importers, who copy the descriptor that is lent here.
  struct Memory {
    int fd;
    std::uint64_t bytes;
    std::uint32_t type;            // the index of the memory type
    const void* image_parameters;  // a VkImageCreateInfo
    std::uint32_t usage;           // as in image_parameters
  };
  virtual Memory memory() const = 0;
  // Two semaphores, for importers who cannot make one that others can wait for. They signal them in turns, since the
  // wait for the last use may still be under way when the next one is announced.
  virtual int semaphore(std::size_t which) const = 0;

  const ImageSpec spec;

  // The descriptor of a Vulkan semaphore that the last device to use the image signals when it is done, and the next
  // device waits for. None: nobody has used the image.
  Fd last_use;
  std::size_t turn = 0;  // the semaphore that is next

  // One crossing or tensor at a time has the image.
  bool take() { return !is_taken_.exchange(true, std::memory_order_acquire); }
  void give_back() { is_taken_.store(false, std::memory_order_release); }
  void abandon() { is_abandoned_ = true; }  // instead of giving it back: it stays taken until it is destroyed
  bool is_taken() const { return is_taken_.load(std::memory_order_acquire); }
  bool is_abandoned() const { return is_abandoned_; }

 protected:
  explicit SharedImage(const ImageSpec& spec_in) : spec(spec_in) {}

 private:
  std::atomic<bool> is_taken_{true}, is_abandoned_{false};
};

// Gives a taken image. Throws unsupported or out_of_memory with the reason. Takes driver_start_lock() the first time.
std::shared_ptr<SharedImage> make_shared_image(const VulkanDriver&, const ImageSpec&);

// An image as one backend sees it: an object of the backend's device. Copies are submitted, not waited for.
class ImportedImage {
 public:
  virtual ~ImportedImage() = default;
  // Writes all elements of a storage whose texels are laid out as the image's, and zeros after them.
  virtual void write(const Storage& from, std::int64_t elements) = 0;
  virtual void read(Storage& to, std::int64_t elements) = 0;
};

}  // namespace tessera
