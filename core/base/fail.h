// How a call that cannot be done ends.
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
