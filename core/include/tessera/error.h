// Every failure of tessera is an Error: a code to switch on, and a sentence with the values that did not fit. Only
// where the host has no memory left for the few bytes of an operation's own, std::bad_alloc comes as from all of C++;
// for elements, wherever they are, out_of_memory does. Either way nothing is lost. <tessera/result.h> has errors as
// values, for hosts without exceptions.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

#include <tessera/api.h>

namespace tessera {

enum class ErrorCode {
  invalid_argument,  // a value that the call does not take
  shape_mismatch,    // shapes that do not fit together
  dtype_mismatch,    // element types that do not fit together, or that the operation does not take
  unsupported,       // right in itself, but this device or build cannot do it
  wrong_backend,     // a call of one backend with a tensor of another
  wrong_thread,      // a host's GL context used away from the thread it is current on
  not_found,         // a name that nothing has
  out_of_memory,     // the device, the budget or the host cannot hold as much
  device_lost,       // the device is gone and could not be replaced
  compile_failed,    // a kernel that the driver did not take
  io,                // a file that could not be read or written
  cancelled,         // the caller said so, by a callback that it gave, or closed what would have given the result
  busy               // in a page, where nothing waits: something must go on first; call again later
};

TESSERA_API std::string_view to_string(ErrorCode);

class TESSERA_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace tessera
