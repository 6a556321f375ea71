#include "core/platform/library_file.h"

#ifndef __APPLE__
#include <elf.h>
#include <link.h>
#endif

#include <cstring>
#include <fstream>
#include <vector>

namespace tessera {

std::string why_not_loadable(const std::filesystem::path& library) {
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(library, failed);
  std::ifstream file(library, std::ios::binary);
  if (failed || !file) return library.string() + " is not there, or cannot be read";

#ifdef __APPLE__
  return "";
#else
  ElfW(Ehdr) header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)))
    return library.string() + " is not a library of this system";
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  file.read(reinterpret_cast<char*>(segments.data()),
            static_cast<std::streamsize>(segments.size() * sizeof(ElfW(Phdr))));
  bool is_whole = static_cast<bool>(file);
  for (const ElfW(Phdr) & segment : segments)
    is_whole = is_whole && segment.p_offset <= bytes && segment.p_filesz <= bytes - segment.p_offset;
  return is_whole ? "" : library.string() + " has only " + std::to_string(bytes) + " bytes: it was cut short";
#endif
}

}  // namespace tessera
