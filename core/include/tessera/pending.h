// Pending: a result that comes later, of Tensor::read_async, Program::prepare and the like.
//
//   tessera::Pending<std::vector<float>> values = x.read_async();
//   if (values.ready()) show(values.get());                                             // in a later frame, or:
//   values.then([](tessera::Pending<std::vector<float>> done) { show(done.get()); });   // as soon as it is there
//
// It has one owner: it moves, and get() and then() take the result away. A Pending that is dropped leaves its work to
// go on, and the result to nobody. Any thread may use it, one at a time.
#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <tessera/error.h>

namespace tessera {

// The work behind a Pending; tessera's own.
class TESSERA_API PendingWork {
 public:
  virtual ~PendingWork() = default;
  virtual bool is_ready() = 0;  // never waits
  virtual void wait() = 0;      // until it is done; throws the error, if there was one
  // Calls once, with the error if there was one.
  virtual void call_when_ready(std::function<void(std::exception_ptr)>) = 0;

  static std::shared_ptr<PendingWork> done(std::exception_ptr = nullptr);
  [[noreturn]] static void refuse_empty();  // throws invalid_argument
};

template <class T>
class Pending {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  Pending() = default;  // of nothing
  Pending(std::shared_ptr<PendingWork> work, std::shared_ptr<std::optional<Value>> value)
      : work_(std::move(work)), value_(std::move(value)) {}
  static Pending done(Value value = {}) {  // there already
    return {PendingWork::done(), std::make_shared<std::optional<Value>>(std::move(value))};
  }
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&&) noexcept = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  bool is_empty() const { return !work_; }  // never set, moved from, or its result was taken
  // Whether get() need not wait. In a host's GL context only the thread with the context may ask.
  bool ready() const { return work().is_ready(); }

  // Waits for the result and takes it, or throws the error. In a host's GL context, where no other thread can do the
  // work, this does the rest of it, on the thread with the context. Where nothing can wait, in a page on WebGPU without
  // Asyncify and JSPI, a result that is not ready is an unsupported, and stays pending: call then() instead.
  T get() {
    work().wait();
    const std::shared_ptr<std::optional<Value>> value = std::move(value_);
    work_ = nullptr;
    if constexpr (!std::is_void_v<T>) return std::move(**value);
  }

  // Calls `callback` once, with this as a Pending that is ready; its get() gives the result, or throws the error. At
  // once where it is ready now; else on the context's own thread, without a lock, so that it may call tessera; in a
  // page between the page's events; in a host's GL context within the host's calls of Context::reads_under_way() and
  // Context::prepare_some(). Where the context goes before, the result is an error. The callback does not throw.
  void then(std::function<void(Pending)> callback) {
    PendingWork& own = work();
    const std::shared_ptr<PendingWork> held = std::move(work_);
    own.call_when_ready(
        [callback = std::move(callback), value = std::move(value_)](const std::exception_ptr& error) mutable {
          callback(Pending(PendingWork::done(error), std::move(value)));
        });
  }

 private:
  PendingWork& work() const {
    if (!work_) PendingWork::refuse_empty();
    return *work_;
  }

  std::shared_ptr<PendingWork> work_;
  std::shared_ptr<std::optional<Value>> value_;
};

}  // namespace tessera
