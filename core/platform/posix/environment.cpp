#include "core/platform/environment.h"

#include <cstdlib>

namespace tessera {

void set_environment(const char* name, const std::optional<std::string>& value) {
  if (value) setenv(name, value->c_str(), 1);
  else unsetenv(name);
}

}  // namespace tessera
