#include "core/platform/environment.h"

#include <cstdlib>

namespace tessera {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

}  // namespace tessera
