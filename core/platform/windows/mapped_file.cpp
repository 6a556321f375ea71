#include "core/platform/mapped_file.h"

#include <windows.h>

#include <string>
#include <system_error>

#include <tessera/error.h>

namespace tessera {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const auto fail_opening = [&](const std::string& reason) {
    throw Error(ErrorCode::io, "cannot read " + path.string() + ": " + reason + ".");
  };
  const auto last_reason = [] { return std::system_category().message(static_cast<int>(GetLastError())); };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail_opening("it is no regular file");
  HANDLE const file = CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                                  OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) fail_opening(last_reason());
  const void* address = nullptr;
  LARGE_INTEGER size{};
  std::string reason;
  if (GetFileType(file) != FILE_TYPE_DISK) {
    reason = "it is no regular file";
  } else if (!GetFileSizeEx(file, &size)) {
    reason = last_reason();
  } else if (size.QuadPart > 0) {
    HANDLE const mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
    if (mapping) address = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    if (!address) reason = last_reason();
    if (mapping) CloseHandle(mapping);  // the view holds it
  }
  CloseHandle(file);
  if (!reason.empty()) fail_opening(reason);
  if (address) bytes_ = {static_cast<const std::byte*>(address), static_cast<std::size_t>(size.QuadPart)};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) UnmapViewOfFile(bytes_.data());
}

}  // namespace tessera
