#include "core/platform/driver_start.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "core/platform/library.h"

namespace tessera {
namespace fs = std::filesystem;
namespace {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

void add_manifests_in(const fs::path& folder, std::vector<VulkanDriver>& drivers) {
  std::error_code ignored;
  std::vector<fs::path> manifests;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".json") manifests.push_back(entry.path());
  std::sort(manifests.begin(), manifests.end());
  for (const fs::path& manifest : manifests) drivers.push_back({manifest, false});
}

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
    for (std::string manifest; std::getline(list, manifest, ':');)
      drivers.push_back({manifest, manifest.find("swiftshader") != std::string::npos});
    return drivers;
  }
  for (const char* folder : {"/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d"})
    add_manifests_in(folder, drivers);
  const fs::path swiftshader = angle_folder() / "vk_swiftshader_icd.json";
  std::error_code ignored;
  if (fs::exists(swiftshader, ignored)) drivers.push_back({swiftshader, true});
  return drivers;
}

OnlyVulkanDriver::OnlyVulkanDriver(const VulkanDriver& driver) : before_(environment(chosen_driver)) {
  setenv(chosen_driver, driver.manifest.c_str(), 1);
}

OnlyVulkanDriver::~OnlyVulkanDriver() {
  if (before_) setenv(chosen_driver, before_->c_str(), 1);
  else unsetenv(chosen_driver);
}

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto is_same_letter = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), is_same_letter) != text.end();
}

}  // namespace tessera
