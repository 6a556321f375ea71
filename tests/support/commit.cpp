#include "support/commit.h"

#include <cstdio>

namespace tessera::test {

std::string commit() {
  static const std::string known = [] {
    std::string text;
    if (FILE* git = popen("git -C '" TESSERA_SOURCE_FOLDER "' rev-parse --short=12 HEAD 2>/dev/null", "r")) {
      for (int c = std::fgetc(git); c != EOF && c != '\n'; c = std::fgetc(git)) text += static_cast<char>(c);
      pclose(git);
    }
    return text.empty() ? "1" : text;
  }();
  return known;
}

std::uint64_t hash_of(const std::string& text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace tessera::test
