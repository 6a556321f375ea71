// A host that speaks Vulkan itself: its own loader, device, queues and images, no help from tessera.
#pragma once
#if __has_include(<vulkan/vulkan.h>)
#define TESSERA_TEST_HAS_VULKAN 1
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <tessera/vulkan.h>

namespace tessera::test {

// VkImage is a pointer or a number; all else of an image that tessera wants to know.
struct EngineImage {
  VkImage image = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkExternalMemoryImageCreateInfo external{};
  VkImageCreateInfo info{};
  std::uint64_t memory_size = 0;
  std::uint32_t memory_type = 0;
  VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;  // as the engine knows it

  vulkan::Image shared() const { return {image, &info, memory, memory_size, memory_type}; }
};

class VulkanEngine {
 public:
  struct Options {
    bool has_sharing = true;  // the extensions
    bool has_timeline = true;
    // Stands in for a driver with dma-bufs: memory of a file, which SwiftShader exports under another name, and images
    // that are linear, whatever tiling tessera is told.
    bool has_dma_bufs = false;
  };
  // On the first device of the driver with this manifest. Throws std::runtime_error with the reason.
  VulkanEngine(const std::string& manifest, const Options&);
  explicit VulkanEngine(const std::string& manifest) : VulkanEngine(manifest, Options()) {}
  ~VulkanEngine();
  VulkanEngine(const VulkanEngine&) = delete;
  VulkanEngine& operator=(const VulkanEngine&) = delete;

  vulkan::HostDevice handles() const;  // of queue 0
  int objects_made() const;            // exported descriptors, semaphores and command buffers, by tessera

  static constexpr VkImageUsageFlags all_usages = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                                  VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  struct ImageOptions {
    VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    VkImageUsageFlags usage = all_usages;
    bool is_exportable = true;
    std::uint32_t levels = 1;
    VkImageCreateFlags flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
    VkImageTiling tiling = VK_IMAGE_TILING_OPTIMAL;
  };
  EngineImage& image(std::uint32_t width, std::uint32_t height, const ImageOptions&);
  EngineImage& image(std::uint32_t width, std::uint32_t height) { return image(width, height, ImageOptions()); }
  void destroy(EngineImage&);
  VkSemaphore semaphore(bool is_timeline);
  // Of a timeline semaphore.
  std::uint64_t value_of(VkSemaphore) const;
  void signal(VkSemaphore, std::uint64_t value) const;

  // Memory that the device and the host see.
  struct Buffer {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    std::uint8_t* bytes = nullptr;
  };
  Buffer& buffer(std::size_t bytes);

  // Submitted, not waited for. The image is in the layout SHADER_READ_ONLY_OPTIMAL afterwards.
  struct Order {
    std::vector<vulkan::Semaphore> waits{}, signals{};
  };
  void write(EngineImage&, const Buffer&, std::size_t offset, const Order&);
  void write(EngineImage& image, const Buffer& from, std::size_t offset) { write(image, from, offset, Order()); }
  void read(EngineImage&, const Buffer&, std::size_t offset, const Order&);
  void read(EngineImage& image, const Buffer& to, std::size_t offset) { read(image, to, offset, Order()); }
  void wait() const;

 private:
  struct Functions;
  template <class Record>
  void submit(const Record&, const Order&);
  void change_layout(VkCommandBuffer, EngineImage&, VkImageLayout);
  std::uint32_t memory_type(std::uint32_t allowed, VkMemoryPropertyFlags) const;

  Functions& vk_;
  bool has_dma_bufs_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::deque<EngineImage> images_;
  std::deque<Buffer> buffers_;
  std::vector<VkSemaphore> semaphores_;
};

}  // namespace tessera::test
#endif
