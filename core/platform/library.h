// Libraries that are loaded while the program runs. A handle is null where there is no library; a platform without any
// gives null throughout.
#pragma once
#include <filesystem>

namespace tessera {

// The names of the files that this platform has them in.
struct LibraryNames {
  const char *angle_egl, *angle_gles;  // in ANGLE's folder
  const char* swiftshader;             // beside the manifest that names it
  const char *system_egl, *vulkan;     // where the loader finds them
};
extern const LibraryNames library_names;

// Loads a library whose names stay apart from those of all others, until it is closed.
void* open_library(const std::filesystem::path&) noexcept;
void* require_library(const std::filesystem::path&);  // or throws not_found with the loader's reason
void close_library(void*) noexcept;

// Loads it so that its own names come before those of the program, for all who open it later, too. Does nothing where
// the loader cannot.
void open_before_the_program(const std::filesystem::path&) noexcept;

// A library that the program has loaded already; it stays loaded.
void* loaded_library(const char* name) noexcept;

void* find_in(void* library, const char* name) noexcept;  // null where the library does not export it
void* find_in_program(const char* name) noexcept;         // the one that whoever is linked with the name calls

// Whether a library exports this function under this name.
bool is_exported_as(void* function, const char* name) noexcept;

// Keeps the library of this function loaded, whoever closes it.
void keep_loaded(void* function) noexcept;

// The folder of tessera's own library, or of the program that it is linked into; empty where nothing tells.
std::filesystem::path own_folder();

}  // namespace tessera
