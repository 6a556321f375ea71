#include <cstdio>

#include "backend_gles/egl.h"

namespace tessera::gles {

bool has_extension(std::string_view extensions, std::string_view name) {
  for (std::size_t at = extensions.find(name); at != std::string_view::npos; at = extensions.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || extensions[at - 1] == ' ') && (end == extensions.size() || extensions[end] == ' ')) return true;
  }
  return false;
}

std::string hex(unsigned code) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%04X", code);
  return text;
}

}  // namespace tessera::gles
