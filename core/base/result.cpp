#include <tessera/result.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif
#include <tessera/handle.h>

namespace tessera {
namespace {

Failure failure_of(ErrorCode code, const char* message) noexcept {
  Failure failure{code, {}};
  try {
    failure.message = message;
  } catch (const std::bad_alloc&) {
    // The code has to do.
  }
  return failure;
}

}  // namespace

std::optional<Failure> run_guarded(void (*work)(void* closure), void* closure) {
  try {
    work(closure);
    return std::nullopt;
  } catch (const Error& error) {
    return failure_of(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return failure_of(ErrorCode::out_of_memory, "The host has no memory left.");
  } catch (const std::exception& foreign) {
    return failure_of(ErrorCode::invalid_argument, foreign.what());
#ifdef __GLIBCXX__
  } catch (const abi::__forced_unwind&) {  // the thread is being cancelled, which nobody may stop
    throw;
#endif
  } catch (...) {
    return failure_of(ErrorCode::invalid_argument, "A function of the host's threw what is no std::exception.");
  }
}

void end_without_value(const Failure& failure) {
  std::fprintf(stderr, "tessera: the value of a failed Result was asked for: %s\n", failure.message.c_str());
  std::abort();
}

void throw_moved_from(const char* name) {
  throw Error(ErrorCode::invalid_argument, std::string(name) + ": this one was moved from and refers to nothing.");
}

}  // namespace tessera
