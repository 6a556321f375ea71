// The little of Vulkan that core/platform/vulkan_abi.h spells out, beside Vulkan's own header.
#include <gtest/gtest.h>

#if __has_include(<vulkan/vulkan_core.h>)
#include <vulkan/vulkan_core.h>

#include <cstddef>

#include "core/platform/vulkan_abi.h"

namespace tessera::test::vulkan_abi_test {
namespace {

// Each pair has the same size, the same place of a member near its end, and the same number for its type.
#define EXPECT_ALIKE(own, member, real, real_member, number)              \
  EXPECT_EQ(sizeof(own), sizeof(real)) << #real;                          \
  EXPECT_EQ(offsetof(own, member), offsetof(real, real_member)) << #real; \
  EXPECT_EQ((own{}).type, static_cast<int>(number)) << #real

TEST(VulkanAbi, IsVulkans) {
  using namespace tessera::vulkan;
  EXPECT_ALIKE(ApplicationInfo, api_version, VkApplicationInfo, apiVersion, VK_STRUCTURE_TYPE_APPLICATION_INFO);
  EXPECT_ALIKE(InstanceCreateInfo, extensions, VkInstanceCreateInfo, ppEnabledExtensionNames,
               VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  EXPECT_ALIKE(QueueCreateInfo, priorities, VkDeviceQueueCreateInfo, pQueuePriorities,
               VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  EXPECT_ALIKE(DeviceCreateInfo, features, VkDeviceCreateInfo, pEnabledFeatures, VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  EXPECT_ALIKE(ImageCreateInfo, initial_layout, VkImageCreateInfo, initialLayout, VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
  EXPECT_ALIKE(ImageCreateInfo, usage, VkImageCreateInfo, usage, VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
  EXPECT_ALIKE(ImageCreateInfo, layers, VkImageCreateInfo, arrayLayers, VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
  EXPECT_ALIKE(FormatList, formats, VkImageFormatListCreateInfo, pViewFormats,
               VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO);
  EXPECT_ALIKE(MemoryAllocateInfo, memory_type, VkMemoryAllocateInfo, memoryTypeIndex,
               VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  EXPECT_ALIKE(SemaphoreCreateInfo, flags, VkSemaphoreCreateInfo, flags, VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  EXPECT_ALIKE(FenceCreateInfo, flags, VkFenceCreateInfo, flags, VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  EXPECT_ALIKE(SubmitInfo, signals, VkSubmitInfo, pSignalSemaphores, VK_STRUCTURE_TYPE_SUBMIT_INFO);
  EXPECT_ALIKE(SubmitInfo, commands, VkSubmitInfo, pCommandBuffers, VK_STRUCTURE_TYPE_SUBMIT_INFO);
  EXPECT_ALIKE(TimelineSubmitInfo, signal_values, VkTimelineSemaphoreSubmitInfo, pSignalSemaphoreValues,
               VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  EXPECT_ALIKE(CommandPoolCreateInfo, family, VkCommandPoolCreateInfo, queueFamilyIndex,
               VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  EXPECT_ALIKE(CommandsAllocateInfo, count, VkCommandBufferAllocateInfo, commandBufferCount,
               VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  EXPECT_ALIKE(CommandsBeginInfo, flags, VkCommandBufferBeginInfo, flags, VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  EXPECT_ALIKE(ImageBarrier, image, VkImageMemoryBarrier, image, VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER);
  EXPECT_ALIKE(ImageBarrier, aspect, VkImageMemoryBarrier, subresourceRange, VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER);
  EXPECT_ALIKE(ImportSemaphoreInfo, fd, VkImportSemaphoreFdInfoKHR, fd, VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR);
  EXPECT_ALIKE(DeviceIds, driver, VkPhysicalDeviceIDProperties, driverUUID,
               VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES);
  EXPECT_EQ(offsetof(DevicePropertiesAndMore, properties), offsetof(VkPhysicalDeviceProperties2, properties));
  EXPECT_GE(sizeof(DevicePropertiesAndMore), sizeof(VkPhysicalDeviceProperties2));
  EXPECT_EQ(offsetof(DeviceProperties, name), offsetof(VkPhysicalDeviceProperties, deviceName));
  EXPECT_ALIKE(ImageModifier, modifier, VkImageDrmFormatModifierPropertiesEXT, drmFormatModifier,
               VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_PROPERTIES_EXT);
  EXPECT_ALIKE(ModifierList, modifiers, VkDrmFormatModifierPropertiesListEXT, pDrmFormatModifierProperties,
               VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT);
  EXPECT_ALIKE(FormatProperties, linear, VkFormatProperties2, formatProperties, VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2);
  EXPECT_EQ(sizeof(ModifierProperties), sizeof(VkDrmFormatModifierPropertiesEXT));
  EXPECT_EQ(offsetof(ModifierProperties, planes),
            offsetof(VkDrmFormatModifierPropertiesEXT, drmFormatModifierPlaneCount));
  EXPECT_EQ(sizeof(Subresource), sizeof(VkImageSubresource));
  EXPECT_EQ(sizeof(SubresourceLayout), sizeof(VkSubresourceLayout));
  EXPECT_EQ(offsetof(SubresourceLayout, row_pitch), offsetof(VkSubresourceLayout, rowPitch));
  EXPECT_EQ(aspect_first_plane, std::uint32_t{VK_IMAGE_ASPECT_MEMORY_PLANE_0_BIT_EXT});
  EXPECT_EQ(aspect_first_plane << 1, std::uint32_t{VK_IMAGE_ASPECT_MEMORY_PLANE_1_BIT_EXT});
  EXPECT_EQ(handle_dma_buf, std::uint32_t{VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT});
  EXPECT_EQ(handle_sync_fd, std::uint32_t{VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT});
  EXPECT_EQ(modifier_list, int{VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT});
  EXPECT_EQ(explicit_modifier, int{VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT});
  EXPECT_EQ(tiling_modifier, int{VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT});
  EXPECT_EQ(tiling_linear, int{VK_IMAGE_TILING_LINEAR});

  EXPECT_EQ(sizeof(GetFdInfo), sizeof(VkMemoryGetFdInfoKHR));
  EXPECT_EQ(offsetof(GetFdInfo, handle_type), offsetof(VkSemaphoreGetFdInfoKHR, handleType));
  EXPECT_EQ(get_memory_fd, int{VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR});
  EXPECT_EQ(get_semaphore_fd, int{VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR});
  EXPECT_EQ(sizeof(ExternalInfo), sizeof(VkExternalMemoryImageCreateInfo));
  EXPECT_EQ(external_image, int{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO});
  EXPECT_EQ(export_memory, int{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO});
  EXPECT_EQ(export_semaphore, int{VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO});
  EXPECT_EQ(sizeof(MemoryTypes), sizeof(VkPhysicalDeviceMemoryProperties));
  EXPECT_EQ(family_external, std::uint32_t{VK_QUEUE_FAMILY_EXTERNAL});
  EXPECT_EQ(family_ignored, std::uint32_t{VK_QUEUE_FAMILY_IGNORED});
  EXPECT_EQ(all_commands, static_cast<std::uint32_t>(VK_PIPELINE_STAGE_ALL_COMMANDS_BIT));
  EXPECT_EQ(ImageBarrier{}.before, std::uint32_t{VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT});
  EXPECT_EQ(CommandsBeginInfo{}.flags, std::uint32_t{VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT});
}

}  // namespace
}  // namespace tessera::test::vulkan_abi_test
#else
TEST(VulkanAbi, IsVulkans) { GTEST_SKIP() << "this build found no Vulkan headers (libvulkan-dev)"; }
#endif
