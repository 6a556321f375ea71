// A Vulkan host on SwiftShader and a context that is joined to it, for tests of vulkan::from_image and
// vulkan::to_image.
#pragma once
#include "support/vulkan_engine.h"
#ifdef TESSERA_TEST_HAS_VULKAN
#include <cstring>
#include <filesystem>
#include <optional>

#include "support/compare.h"
#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test {

inline constexpr std::uint32_t width = 24, height = 10;

inline const std::string swiftshader = TESSERA_TEST_ANGLE_DIR "/vk_swiftshader_icd.json";
inline bool can_share(const TestDevice& device) {
  return std::string_view(device.driver).find("SwiftShader") != std::string::npos;
}

inline std::vector<TestDevice> sharing_devices() {
  std::vector<TestDevice> devices = gpu_devices();
  std::erase_if(devices, [](const TestDevice& device) { return !can_share(device); });
  return devices;
}

inline std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint32_t seed) {
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>((seed = seed * 1664525u + 1013904223u) >> 24);
  return bytes;
}

inline std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

class VulkanImages : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!std::filesystem::exists(swiftshader)) GTEST_SKIP() << "there is no " << swiftshader;
    engine.emplace(swiftshader);
    if (is_refused()) return;
    gpu.emplace(open(GetParam()));
    vulkan::attach(*gpu, engine->handles());
  }
  virtual bool is_refused() const { return false; }

  EngineImage& image_with(const std::vector<std::uint8_t>& bytes, const VulkanEngine::ImageOptions& options) {
    EngineImage& image = engine->image(width, height, options);
    const VulkanEngine::Buffer& buffer = engine->buffer(bytes.size());
    std::memcpy(buffer.bytes, bytes.data(), bytes.size());
    engine->write(image, buffer, 0);
    return image;
  }
  EngineImage& image_with(const std::vector<std::uint8_t>& bytes) { return image_with(bytes, {}); }
  // Of an image that tessera has written.
  std::vector<std::uint8_t> bytes_of(EngineImage& image, std::size_t count) {
    image.layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    const VulkanEngine::Buffer& buffer = engine->buffer(count);
    engine->read(image, buffer, 0);
    engine->wait();
    return {buffer.bytes, buffer.bytes + count};
  }

  std::optional<VulkanEngine> engine;  // goes last
  std::optional<Context> gpu;
};

inline constexpr std::size_t frame_bytes = width * height * 4;

}  // namespace tessera::test
#endif
