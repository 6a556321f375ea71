// Host memory that runs out is an Error like any other fault.
#pragma once
#include <new>
#include <stdexcept>
#include <string>

#include <tessera/error.h>

namespace tessera {

[[noreturn]] inline void fail_for_host_memory(const char* op) {
  throw Error(ErrorCode::out_of_memory, std::string(op) + ": the host's memory is not enough.");
}

// Runs `work`; the error begins with `op`.
template <class Work>
auto with_host_memory(const char* op, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    fail_for_host_memory(op);
  } catch (const std::length_error&) {
    fail_for_host_memory(op);
  }
}

}  // namespace tessera
