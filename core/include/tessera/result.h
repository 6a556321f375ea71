// Errors as values, for hosts that are compiled with -fno-exceptions, and for functions that are called from C, which
// no exception may leave: callbacks of GTK or GStreamer, an engine's plug-in interface.
//
//   const tessera::Result<tessera::Tensor> y = tessera::attempt([&] { return matmul(a, b); });
//   if (!y) return log(y.failure().message);            // "matmul: the inner dimension (3) of a [2,3] differs …"
//
//   void on_frame(void* self) {                          // C calls it
//     if (const auto done = tessera::attempt([&] { draw(*static_cast<Filter*>(self)); }); !done)
//     report(done.failure());
//   }
//
// All headers of tessera compile with -fno-exceptions; the try and catch are inside the library. Two things to know
// about such a host: it keeps its unwind tables, which compilers write on x86-64 and ARM64 unless they are told not to
// (-fno-asynchronous-unwind-tables; without them a failure ends the program); and its compiler writes no code that
// destroys objects on the way of an exception, so that tensors and containers made inside the function, {a, b} among
// arguments too, stay for ever where a later call in it fails. Make them outside: one attempt for a call.
#pragma once
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera/error.h>

namespace tessera {

// An Error as a value. Exceptions that are not tessera's, thrown by functions that a host gave to it, are
// invalid_argument; std::bad_alloc is out_of_memory.
struct Failure {
  ErrorCode code;
  std::string message;
};

// Calls work(closure) and gives the failure, if there was one. No exception leaves it.
TESSERA_API std::optional<Failure> run_guarded(void (*work)(void* closure), void* closure);
// Writes the failure's message to stderr and ends the program: the value of a failure was asked for.
[[noreturn]] TESSERA_API void end_without_value(const Failure&);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Failure failure) : failure_(std::move(failure)) {}

  explicit operator bool() const { return value_.has_value(); }
  const Failure& failure() const { return failure_; }  // of a result that is false
  // The value; that of a failure ends the program, so ask first.
  T& value() {
    if (!value_) end_without_value(failure_);
    return *value_;
  }
  const T& value() const { return const_cast<Result*>(this)->value(); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T value_or(T otherwise) const { return value_ ? *value_ : std::move(otherwise); }

 private:
  std::optional<T> value_{};
  Failure failure_{};
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Failure failure) : failure_(std::move(failure)) {}

  explicit operator bool() const { return !failure_; }
  const Failure& failure() const { return *failure_; }  // of a result that is false

 private:
  std::optional<Failure> failure_{};
};

// Calls `work`, and gives what it returns, or the failure that kept it from that.
template <class Work>
auto attempt(Work&& work) {
  using Function = std::remove_reference_t<Work>;
  using T = std::remove_cvref_t<std::invoke_result_t<Function&>>;
  if constexpr (std::is_void_v<T>) {
    std::optional<Failure> failure = run_guarded([](void* closure) { (*static_cast<Function*>(closure))(); },
                                                 const_cast<void*>(static_cast<const void*>(&work)));
    return failure ? Result<void>(std::move(*failure)) : Result<void>();
  } else {
    struct Closure {
      Function& work;
      std::optional<T> value;
    } closure{work, std::nullopt};
    std::optional<Failure> failure = run_guarded(
        [](void* to) {
          auto& called = *static_cast<Closure*>(to);
          called.value.emplace(called.work());
        },
        &closure);
    return failure ? Result<T>(std::move(*failure)) : Result<T>(std::move(*closure.value));
  }
}

}  // namespace tessera
