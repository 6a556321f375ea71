// Calls that cannot be done end here.
#pragma once
#include <string>
#include <string_view>

#include <tessera/error.h>

namespace tessera {

// Throws "op: sentence".
[[noreturn]] inline void fail(ErrorCode code, std::string_view op, const std::string& sentence) {
  throw Error(code, std::string(op) + ": " + sentence);
}

}  // namespace tessera
