#include "core/platform/library.h"

#include <windows.h>

#include <string>
#include <system_error>

#include <tessera/error.h>

namespace tessera {
namespace {

HMODULE module_of(const void* function, DWORD flags) {
  HMODULE module = nullptr;
  if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | flags, static_cast<const wchar_t*>(function),
                          &module))
    return nullptr;
  return module;
}

}  // namespace

const LibraryNames library_names{.angle_egl = "libEGL.dll",
                                 .angle_gles = "libGLESv2.dll",
                                 .swiftshader = "vk_swiftshader.dll",
                                 .system_egl = "libEGL.dll",
                                 .vulkan = "vulkan-1.dll"};

// Windows keeps the names of libraries apart by itself. One with a path finds those that it needs beside it.
void* open_library(const std::filesystem::path& file) noexcept {
  return LoadLibraryExW(file.c_str(), nullptr, file.is_absolute() ? LOAD_WITH_ALTERED_SEARCH_PATH : 0);
}

void* require_library(const std::filesystem::path& file) {
  if (void* const library = open_library(file)) return library;
  const auto error = static_cast<int>(GetLastError());
  throw Error(ErrorCode::not_found, file.string() + " cannot be loaded: " + std::system_category().message(error) +
                                        " (error " + std::to_string(error) + ")");
}

void close_library(void* library) noexcept { FreeLibrary(static_cast<HMODULE>(library)); }

void open_before_the_program(const std::filesystem::path&) noexcept {}

void* loaded_library(const char* name) noexcept {
  HMODULE module = nullptr;
  return GetModuleHandleExA(0, name, &module) ? module : nullptr;
}

void* find_in(void* library, const char* name) noexcept {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

void* find_in_program(const char* name) noexcept { return find_in(GetModuleHandleW(nullptr), name); }

bool is_exported_as(void* function, const char* name) noexcept {
  HMODULE const module = function ? module_of(function, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT) : nullptr;
  return module && find_in(module, name) == function;
}

void keep_loaded(void* function) noexcept { module_of(function, GET_MODULE_HANDLE_EX_FLAG_PIN); }

std::filesystem::path own_folder() {
  HMODULE const module =
      module_of(reinterpret_cast<const void*>(&own_folder), GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT);
  std::wstring name(MAX_PATH, L'\0');
  DWORD length = 0;
  while ((length = GetModuleFileNameW(module, name.data(), static_cast<DWORD>(name.size()))) == name.size())
    name.resize(2 * name.size());
  name.resize(length);
  return std::filesystem::path(name).parent_path();
}

}  // namespace tessera
