// Environment variables, which libraries of others read.
#pragma once
#include <optional>
#include <string>

namespace tessera {

std::optional<std::string> environment(const char* name);  // an empty one counts as none

// Changes it for the whole program; none removes it. Threads that read the environment meanwhile may crash.
void set_environment(const char* name, const std::optional<std::string>& value);

}  // namespace tessera
