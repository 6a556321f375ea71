// A Vulkan device with one queue, and what the engine makes on it.
#pragma once
#include <vulkan/vulkan_raii.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "support/window.h"

struct Buffer {
  vk::raii::DeviceMemory memory{nullptr};
  vk::raii::Buffer buffer{nullptr};
  std::byte* bytes = nullptr;  // mapped
};

struct Image {
  vk::raii::DeviceMemory memory{nullptr};
  vk::raii::Image image{nullptr};
  vk::raii::ImageView view{nullptr};
  vk::ExternalMemoryImageCreateInfo external{};
  vk::ImageCreateInfo info{};
  vk::MemoryAllocateInfo allocation{};
  vk::ImageLayout layout = vk::ImageLayout::eUndefined;  // after all that was recorded so far
};

class Gpu {
 public:
  Gpu();  // on the first device of the machine with Vulkan 1.3

  const vk::raii::Instance& instance() const { return instance_; }
  const vk::raii::PhysicalDevice& physical_device() const { return physical_device_; }
  const vk::raii::Device& device() const { return device_; }
  const vk::raii::Queue& queue() const { return queue_; }
  std::uint32_t queue_family() const { return queue_family_; }
  PFN_vkGetInstanceProcAddr get_instance_proc_addr() const;

  Buffer buffer(std::size_t bytes, vk::BufferUsageFlags) const;
  // With memory that others can import, where the device has that.
  void make(Image&, sample::Size, vk::Format, vk::ImageUsageFlags) const;

  // Begins commands, has them recorded and submits them.
  template <class Record>
  void submit(const Record& record) {
    const vk::raii::CommandBuffer& commands = begin();
    record(commands);
    end(commands);
  }
  void wait();  // until the device has done all of them
  static void change_layout(const vk::raii::CommandBuffer&, Image&, vk::ImageLayout);

 private:
  const vk::raii::CommandBuffer& begin();
  void end(const vk::raii::CommandBuffer&) const;
  std::uint32_t memory_type(std::uint32_t allowed, vk::MemoryPropertyFlags) const;

  vk::raii::Context context_;
  vk::raii::Instance instance_{nullptr};
  vk::raii::PhysicalDevice physical_device_{nullptr};
  std::uint32_t queue_family_ = 0;
  bool can_share_ = false;
  vk::raii::Device device_{nullptr};
  vk::raii::Queue queue_{nullptr};
  vk::raii::CommandPool pool_{nullptr};
  std::vector<vk::raii::CommandBuffer> commands_;  // of frames under way
};
