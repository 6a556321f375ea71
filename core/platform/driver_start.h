// What starting a graphics driver takes on Linux, for every backend that stands on one.
#pragma once
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

// Held while a driver starts: several drivers initialise process-wide state without a lock of their own.
std::mutex& driver_start_lock();

// The folder with ANGLE and SwiftShader: $TESSERA_ANGLE_DIR, the one installed beside libtessera, or the build's own.
std::filesystem::path angle_folder();

// The Vulkan loader's manifests on this machine: the system's drivers, then the SwiftShader in angle_folder().
// Where the user chose drivers by VK_DRIVER_FILES or VK_ICD_FILENAMES, those alone.
struct VulkanDriver {
  std::filesystem::path manifest;
  bool is_swiftshader;
};
std::vector<VulkanDriver> vulkan_drivers();

// While this lives, the Vulkan loader sees one driver only. Changes the environment: hold driver_start_lock().
class OnlyVulkanDriver {
 public:
  explicit OnlyVulkanDriver(const VulkanDriver&);
  ~OnlyVulkanDriver();
  OnlyVulkanDriver(const OnlyVulkanDriver&) = delete;
  OnlyVulkanDriver& operator=(const OnlyVulkanDriver&) = delete;

 private:
  std::optional<std::string> before_;
};

// True where `wanted` is part of `text` in any case; an empty `wanted` is part of everything.
bool contains_ignoring_case(std::string_view text, std::string_view wanted);

}  // namespace tessera
