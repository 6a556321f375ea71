// Starting a graphics driver, for every backend that stands on one.
#pragma once
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

// Callers hold it while a driver starts: several drivers initialise process-wide state without a lock of their own.
std::mutex& driver_start_lock();

// The folder with ANGLE and SwiftShader: $TESSERA_ANGLE_DIR, the one installed beside libtessera, or the build's own.
std::filesystem::path angle_folder();

// The Vulkan loader's manifests on this machine: the system's drivers, then the SwiftShader in angle_folder().
// VK_DRIVER_FILES or VK_ICD_FILENAMES replace them all.
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

// Whether `part` is in `text`, in upper or lower case; an empty part is in every text.
bool contains_ignoring_case(std::string_view text, std::string_view part);

}  // namespace tessera
