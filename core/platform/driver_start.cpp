#include "core/platform/driver_start.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "core/platform/environment.h"
#include "core/platform/library.h"
#include "core/platform/vulkan_manifests.h"

namespace tessera {
namespace fs = std::filesystem;
namespace {

constexpr const char* chosen_driver = "VK_DRIVER_FILES";

}  // namespace

std::mutex& driver_start_lock() {
  static std::mutex lock;
  return lock;
}

fs::path angle_folder() {
  if (const auto chosen = environment("TESSERA_ANGLE_DIR")) return *chosen;
  const fs::path installed = own_folder() / "tessera" / "angle";
  std::error_code ignored;
  if (fs::exists(installed / library_names.angle_egl, ignored)) return installed;
#ifdef TESSERA_ANGLE_DIR
  return TESSERA_ANGLE_DIR;
#else
  return {};
#endif
}

std::vector<VulkanDriver> vulkan_drivers() {
  std::vector<VulkanDriver> drivers;
  auto chosen = environment(chosen_driver);
  if (!chosen) chosen = environment("VK_ICD_FILENAMES");
  if (chosen) {
    std::stringstream list(*chosen);
    for (std::string manifest; std::getline(list, manifest, path_separator);)
      drivers.push_back({manifest, manifest.find("swiftshader") != std::string::npos});
    return drivers;
  }
  for (const fs::path& manifest : system_vulkan_manifests()) drivers.push_back({manifest, false});
  const fs::path swiftshader = angle_folder() / "vk_swiftshader_icd.json";
  std::error_code ignored;
  if (fs::exists(swiftshader, ignored)) drivers.push_back({swiftshader, true});
  return drivers;
}

OnlyVulkanDriver::OnlyVulkanDriver(const VulkanDriver& driver) : before_(environment(chosen_driver)) {
  set_environment(chosen_driver, driver.manifest.string());
}

OnlyVulkanDriver::~OnlyVulkanDriver() { set_environment(chosen_driver, before_); }

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto is_same_letter = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), is_same_letter) != text.end();
}

}  // namespace tessera
