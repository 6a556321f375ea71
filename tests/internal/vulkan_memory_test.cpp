// The memory that Vulkan drivers tell of, and that of hosts' images in dma-bufs, over a driver that stands in for one.
#include <fcntl.h>
#include <gmock/gmock.h>

#include <bit>
#include <cstring>

#include "core/platform/driver_start.h"
#include "core/platform/vulkan_host.h"
#include "core/platform/vulkan_probe.h"

namespace tessera::vulkan_memory_test {
namespace {

TEST(VulkanMemory, IsToldByEveryDevice) {
  const std::lock_guard starting(driver_start_lock());
  const std::vector<VulkanDevice> devices = vulkan_devices();
  if (devices.empty()) GTEST_SKIP() << "this machine has no Vulkan driver";
  for (const VulkanDevice& device : devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.memory_total, std::uint64_t{16} << 20) << device.name;
    if (!device.memory_free) continue;
    EXPECT_LE(*device.memory_free, device.memory_total) << device.name;
    EXPECT_GT(*device.memory_free, 0u) << device.name;
  }
}

TEST(VulkanMemory, IsEmptyWithoutADriver) {
  const std::lock_guard starting(driver_start_lock());
  const OnlyVulkanDriver none({"/nonexistent/driver.json", false});
  EXPECT_TRUE(vulkan_devices().empty());
}

#ifndef _WIN32  // which has no dma-bufs, and no /dev/null to stand in for one
// Notes what it is asked for. Its images are compressed, in two planes.
struct DriverWithDmaBufs {
  static inline std::vector<std::string> calls;
  static inline int exported_sync_file = -1;  // what the driver gives for a semaphore

  static void note(const std::string& call) { calls.push_back(call); }
  static std::string number(std::int64_t value) { return std::to_string(value); }

  static std::int32_t done() { return 0; }
  static std::int32_t make(vulkan::DeviceHandle*, const void*, const void*, vulkan::Object* made) {
    *made = 5;
    return 0;
  }
  static std::int32_t make_semaphore(vulkan::DeviceHandle*, const vulkan::SemaphoreCreateInfo* info, const void*,
                                     vulkan::Object* made) {
    const auto* exportable = static_cast<const vulkan::ExternalInfo*>(info->next);
    note("semaphore " + number(exportable ? exportable->handle_types : 0));
    *made = exportable ? 7 : 8;
    return 0;
  }
  static std::int32_t memory_fd(vulkan::DeviceHandle*, const vulkan::GetFdInfo* info, int* fd) {
    note("memory as " + number(info->handle_type));
    *fd = open("/dev/null", O_RDONLY);
    return 0;
  }
  static std::int32_t semaphore_fd(vulkan::DeviceHandle*, const vulkan::GetFdInfo* info, int* fd) {
    note("export " + number(static_cast<std::int64_t>(info->object)) + " as " + number(info->handle_type));
    *fd = exported_sync_file;
    return 0;
  }
  static std::int32_t import(vulkan::DeviceHandle*, const vulkan::ImportSemaphoreInfo* info) {
    note("import as " + number(info->handle_type) + ", flags " + number(info->flags));
    return 0;
  }
  static std::int32_t allocate(vulkan::DeviceHandle*, const void*, vulkan::CommandsHandle** commands) {
    static int some = 0;
    *commands = reinterpret_cast<vulkan::CommandsHandle*>(&some);
    return 0;
  }
  static std::int32_t submit(vulkan::QueueHandle*, std::uint32_t, const vulkan::SubmitInfo* info, vulkan::Object) {
    std::string call = "submit";
    for (std::uint32_t i = 0; i < info->wait_count; ++i)
      call += " wait " + number(std::bit_cast<std::int64_t>(info->waits[i]));
    for (std::uint32_t i = 0; i < info->signal_count; ++i)
      call += " signal " + number(std::bit_cast<std::int64_t>(info->signals[i]));
    note(call);
    return 0;
  }
  static std::int32_t wait_idle(vulkan::QueueHandle*) {
    note("wait");
    return 0;
  }
  static std::int32_t modifier(vulkan::DeviceHandle*, vulkan::Object, vulkan::ImageModifier* modifier) {
    modifier->modifier = 0x0100000000000004;
    return 0;
  }
  static void format_properties(vulkan::PhysicalHandle*, std::int32_t, vulkan::FormatProperties* properties) {
    auto* list = static_cast<vulkan::ModifierList*>(properties->next);
    list->count = 2;
    if (!list->modifiers) return;
    list->modifiers[0] = {0, 1, 0};
    list->modifiers[1] = {0x0100000000000004, 2, 0};
  }
  static void layout(vulkan::DeviceHandle*, vulkan::Object, const vulkan::Subresource* of,
                     vulkan::SubresourceLayout* plane) {
    *plane = {};
    plane->offset = of->aspect == 0x80 ? 0 : 8192;
    plane->row_pitch = of->aspect == 0x80 ? 256 : 64;
  }

  using Any = void (*)();
  static Any of_device(vulkan::DeviceHandle*, const char* name) {
    const std::pair<const char*, Any> functions[]{
        {"vkGetMemoryFdKHR", reinterpret_cast<Any>(memory_fd)},
        {"vkGetSemaphoreFdKHR", reinterpret_cast<Any>(semaphore_fd)},
        {"vkImportSemaphoreFdKHR", reinterpret_cast<Any>(import)},
        {"vkCreateSemaphore", reinterpret_cast<Any>(make_semaphore)},
        {"vkCreateCommandPool", reinterpret_cast<Any>(make)},
        {"vkCreateFence", reinterpret_cast<Any>(make)},
        {"vkAllocateCommandBuffers", reinterpret_cast<Any>(allocate)},
        {"vkQueueSubmit", reinterpret_cast<Any>(submit)},
        {"vkQueueWaitIdle", reinterpret_cast<Any>(wait_idle)},
        {"vkGetImageDrmFormatModifierPropertiesEXT", reinterpret_cast<Any>(modifier)},
        {"vkGetImageSubresourceLayout", reinterpret_cast<Any>(layout)}};
    for (const auto& [known, function] : functions)
      if (std::strcmp(known, name) == 0) return function;
    return reinterpret_cast<Any>(done);  // of the rest nothing is looked at
  }
  static void properties(vulkan::PhysicalHandle*, vulkan::DevicePropertiesAndMore*) {}
  static Any of_instance(VkInstance, const char* name) {
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) return reinterpret_cast<Any>(of_device);
    if (std::strcmp(name, "vkGetPhysicalDeviceFormatProperties2") == 0) return reinterpret_cast<Any>(format_properties);
    return reinterpret_cast<Any>(properties);
  }
};

template <class Handle>
Handle some_handle() {
  return std::bit_cast<Handle>(std::uint64_t{16});
}

class ImagesInDmaBufs : public ::testing::Test {
 protected:
  std::unique_ptr<VulkanHostImage> image(VulkanOrder order, std::int32_t tiling = vulkan::tiling_modifier) {
    DriverWithDmaBufs::calls.clear();
    const auto host = std::make_shared<const VulkanHost>(
        "op", vulkan::HostDevice{some_handle<VkInstance>(), some_handle<VkPhysicalDevice>(), some_handle<VkDevice>(),
                                 some_handle<VkQueue>(), 0, DriverWithDmaBufs::of_instance, vulkan::handle_dma_buf});
    external.handle_types = vulkan::handle_dma_buf;
    info.next = &external;
    info.format = 37;
    info.width = 60;
    info.height = 20;
    info.tiling = tiling;
    return std::make_unique<VulkanHostImage>(
        "op", host,
        vulkan::Image{some_handle<VkImage>(), reinterpret_cast<const VkImageCreateInfo*>(&info),
                      some_handle<VkDeviceMemory>(), 65536, 0},
        order);
  }
  static std::vector<std::string> taken_calls() { return std::exchange(DriverWithDmaBufs::calls, {}); }

  vulkan::ExternalInfo external{.type = vulkan::external_image};
  vulkan::ImageCreateInfo info;
};

using ::testing::ElementsAre;

TEST_F(ImagesInDmaBufs, HaveThePlanesOfTheirModifier) {
  const auto compressed = image(VulkanOrder::waiting);
  EXPECT_THAT(taken_calls(), ElementsAre("memory as 512"));
  const DmaBuf& memory = *compressed->dma_buf();
  EXPECT_EQ(memory.fourcc, fourcc("AB24"));
  EXPECT_EQ(memory.width, 60);
  EXPECT_EQ(memory.height, 20);
  EXPECT_EQ(memory.modifier, 0x0100000000000004u);
  ASSERT_EQ(memory.planes.size(), 2u);
  EXPECT_EQ(memory.planes[0].stride, 256u);
  EXPECT_EQ(memory.planes[1].offset, 8192u);
  EXPECT_EQ(memory.planes[1].stride, 64u);
  EXPECT_GE(memory.planes[0].fd, 0);
  EXPECT_EQ(memory.planes[1].fd, memory.planes[0].fd);
  const auto linear = image(VulkanOrder::waiting, vulkan::tiling_linear);
  EXPECT_EQ(linear->dma_buf()->modifier, 0u);
  EXPECT_EQ(linear->dma_buf()->planes.size(), 1u);
}

TEST_F(ImagesInDmaBufs, AreHandedOverWithoutSemaphoresByWaiting) {
  const auto shared = image(VulkanOrder::waiting);
  taken_calls();
  shared->hand_over(vulkan::layout_general, {});
  EXPECT_THAT(taken_calls(), ElementsAre("submit", "wait"));
  shared->take_back({}, vulkan::layout_general, {});
  EXPECT_THAT(taken_calls(), ElementsAre("submit"));
}

TEST_F(ImagesInDmaBufs, AreOrderedBySyncFiles) {
  const auto shared = image(VulkanOrder::sync_files);
  EXPECT_THAT(taken_calls(), ElementsAre("memory as 512", "semaphore 16"));
  const int file = DriverWithDmaBufs::exported_sync_file = open("/dev/null", O_RDONLY);
  shared->hand_over(vulkan::layout_general, {});
  EXPECT_THAT(taken_calls(), ElementsAre("submit signal 7", "export 7 as 16"));
  EXPECT_EQ(shared->handed_over(), file);
  VulkanHostImage::GivenBack given;
  given.done = Fd(open("/dev/null", O_RDONLY));
  Fd theirs(given.done.get());  // the driver that stands in does not close what it is given
  shared->take_back(std::move(given), vulkan::layout_general, {});
  EXPECT_THAT(taken_calls(), ElementsAre("semaphore 0", "import as 16, flags 1", "submit wait 8"));
  DriverWithDmaBufs::exported_sync_file = -1;  // the work is done already, on both sides
  shared->hand_over(vulkan::layout_general, {});
  EXPECT_EQ(shared->handed_over(), -1);
  taken_calls();
  shared->take_back({}, vulkan::layout_general, {});
  EXPECT_THAT(taken_calls(), ElementsAre("submit"));
}
#endif

}  // namespace
}  // namespace tessera::vulkan_memory_test
