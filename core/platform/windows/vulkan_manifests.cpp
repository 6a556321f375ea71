#include "core/platform/vulkan_manifests.h"

#include <windows.h>

#include <algorithm>
#include <string>

namespace tessera {
namespace {

// Drivers of graphics cards name their manifests under their adapters, one under each.
constexpr const wchar_t* adapters =
    L"SYSTEM\\CurrentControlSet\\Control\\Class\\{4d36e968-e325-11ce-bfc1-08002be10318}";
// Others name theirs here, each as a value that is 0.
constexpr const wchar_t* drivers = L"SOFTWARE\\Khronos\\Vulkan\\Drivers";

class RegistryKey {
 public:
  RegistryKey(HKEY parent, const wchar_t* name) {
    if (RegOpenKeyExW(parent, name, 0, KEY_READ, &key_) != ERROR_SUCCESS) key_ = nullptr;
  }
  ~RegistryKey() {
    if (key_) RegCloseKey(key_);
  }
  RegistryKey(const RegistryKey&) = delete;
  RegistryKey& operator=(const RegistryKey&) = delete;
  HKEY get() const { return key_; }

 private:
  HKEY key_ = nullptr;
};

}  // namespace

const char path_separator = ';';

std::vector<std::filesystem::path> system_vulkan_manifests() {
  std::vector<std::filesystem::path> all;
  const auto add = [&](const std::filesystem::path& manifest) {
    if (std::ranges::find(all, manifest) == all.end()) all.push_back(manifest);
  };
  constexpr DWORD most_letters = 1024;
  if (const RegistryKey key(HKEY_LOCAL_MACHINE, adapters); key.get())
    for (DWORD i = 0;; ++i) {
      std::wstring adapter(most_letters, L'\0'), manifest(most_letters, L'\0');
      DWORD letters = most_letters, bytes = most_letters * sizeof(wchar_t);
      if (RegEnumKeyExW(key.get(), i, adapter.data(), &letters, nullptr, nullptr, nullptr, nullptr) != ERROR_SUCCESS)
        break;
      // Of several names, which end with a NUL each, the first one counts.
      if (RegGetValueW(key.get(), adapter.c_str(), L"VulkanDriverName", RRF_RT_REG_SZ | RRF_RT_REG_MULTI_SZ, nullptr,
                       manifest.data(), &bytes) == ERROR_SUCCESS)
        add(manifest.c_str());
    }
  if (const RegistryKey key(HKEY_LOCAL_MACHINE, drivers); key.get())
    for (DWORD i = 0;; ++i) {
      std::wstring manifest(most_letters, L'\0');
      DWORD letters = most_letters, type = 0, is_disabled = 0, bytes = sizeof is_disabled;
      if (RegEnumValueW(key.get(), i, manifest.data(), &letters, nullptr, &type, reinterpret_cast<BYTE*>(&is_disabled),
                        &bytes) != ERROR_SUCCESS)
        break;
      if (type == REG_DWORD && is_disabled == 0) add(manifest.c_str());
    }
  return all;
}

}  // namespace tessera
