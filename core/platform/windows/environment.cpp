#include "core/platform/environment.h"

#include <stdlib.h>

namespace tessera {

void set_environment(const char* name, const std::optional<std::string>& value) {
  _putenv_s(name, value.value_or("").c_str());  // an empty one is removed
}

}  // namespace tessera
