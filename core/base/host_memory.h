// Host memory that runs out is an Error like any other fault.
#pragma once
#include <new>
#include <stdexcept>
#include <string>

#include <tessera/error.h>

namespace tessera {

// Runs `work`; the error begins with `op`.
template <class Work>
auto with_host_memory(const char* op, const Work& work) {
  const auto fail = [&] [[noreturn]] {
    throw Error(ErrorCode::out_of_memory, std::string(op) + ": the host's memory is not enough.");
  };
  try {
    return work();
  } catch (const std::bad_alloc&) {
    fail();
  } catch (const std::length_error&) {
    fail();
  }
}

}  // namespace tessera
