// A page loads no libraries: the browser has started the drivers.
#include "core/platform/library.h"

#include <tessera/error.h>

namespace tessera {

const LibraryNames library_names{
    .angle_egl = "libEGL", .angle_gles = "libGLESv2", .swiftshader = "", .system_egl = "libEGL", .vulkan = "libvulkan"};

void* open_library(const std::filesystem::path&) noexcept { return nullptr; }
void* require_library(const std::filesystem::path& file) {
  throw Error(ErrorCode::not_found, file.string() + " cannot be loaded: a page loads no libraries");
}
void close_library(void*) noexcept {}
void open_before_the_program(const std::filesystem::path&) noexcept {}
void* loaded_library(const char*) noexcept { return nullptr; }
void* find_in(void*, const char*) noexcept { return nullptr; }
void* find_in_program(const char*) noexcept { return nullptr; }
bool is_exported_as(void*, const char*) noexcept { return false; }
void keep_loaded(void*) noexcept {}
std::filesystem::path own_folder() { return {}; }

}  // namespace tessera
