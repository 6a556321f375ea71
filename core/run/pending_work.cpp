#include "core/run/pending_work.h"

#include "core/platform/poller.h"
#include "core/run/context_impl.h"

namespace tessera {
namespace {

class DoneWork final : public PendingWork {
 public:
  explicit DoneWork(std::exception_ptr error) : error_(std::move(error)) {}
  bool is_ready() override { return true; }
  void wait() override {
    if (error_) std::rethrow_exception(error_);
  }
  void call_when_ready(std::function<void(std::exception_ptr)> callback) override { callback(error_); }

 private:
  std::exception_ptr error_;
};

}  // namespace

std::shared_ptr<PendingWork> PendingWork::done(std::exception_ptr error) {
  return std::make_shared<DoneWork>(std::move(error));
}

void PendingWork::refuse_empty() {
  throw Error(ErrorCode::invalid_argument,
              "Pending: there is nothing to wait for: it was never set, or get() or "
              "then() have taken its result.");
}

// ---- by the background ------------------------------------------------------------------------------------------
bool BackgroundWork::is_ready() {
  const std::scoped_lock hold(lock_);
  return is_complete_;
}

void BackgroundWork::wait() {
  std::unique_lock hold(lock_);
  completed_.wait(hold, [&] { return is_complete_; });
  if (error_) std::rethrow_exception(error_);
}

void BackgroundWork::call_when_ready(std::function<void(std::exception_ptr)> callback) {
  {
    const std::scoped_lock hold(lock_);
    if (!is_complete_) {
      callback_ = std::move(callback);
      return;
    }
  }
  callback(error_);
}

void BackgroundWork::complete(std::exception_ptr error) {
  const std::scoped_lock hold(lock_);
  error_ = std::move(error);
  is_complete_ = true;
  completed_.notify_all();
}

void BackgroundWork::tell() {
  std::function<void(std::exception_ptr)> callback;
  {
    const std::scoped_lock hold(lock_);
    if (is_complete_) callback.swap(callback_);
  }
  if (callback) callback(error_);
}

// ---- by callers -------------------------------------------------------------------------------------------------
CallersWork::CallersWork(std::shared_ptr<ContextImpl> context, Steps steps)
    : context_(std::move(context)), steps_(std::move(steps)) {}

CallersWork::~CallersWork() {
  if (callback_)
    callback_(std::make_exception_ptr(
        Error(ErrorCode::cancelled, "Pending::then: the context went before the result was there.")));
}

bool CallersWork::is_ready() {
  if (is_complete_) return true;
  const LockedContext context(*context_, LockedContext::Closed::allowed);
  return steps_.is_ready(*context);
}

void CallersWork::wait() {
  if (!is_complete_) {
    const LockedContext context(*context_, LockedContext::Closed::allowed);
    if (!context->backend->can_wait() && !steps_.is_ready(*context))
      throw Error(ErrorCode::unsupported,
                  "Pending::get: the result is not ready, and this page cannot wait for its device: call then(), which "
                  "calls back when it is, or ask ready() in a later frame, or link the program with -sASYNCIFY or "
                  "-sJSPI.");
    finish(*context);
  }
  if (error_) std::rethrow_exception(error_);
}

void CallersWork::call_when_ready(std::function<void(std::exception_ptr)> callback) {
  if (!is_complete_) {
    const std::shared_ptr<ContextImpl> owner = context_;
    const LockedContext context(*owner, LockedContext::Closed::allowed);
    if (!finish_if_ready(*context)) {
      callback_ = std::move(callback);
      context_ = nullptr;
      if (has_threads()) {
        context->callers_work.push_back(shared_from_this());
        return;
      }
      const auto advance = [own = shared_from_this(), owner](ContextState& later) {
        if (own->steps_.advance) own->steps_.advance(later);
        return own->finish_if_ready(later);
      };
      owner->background.add(advance, [own = shared_from_this()] { own->tell(); });
      return;
    }
  }
  callback(error_);
}

void CallersWork::finish(ContextState& context) {
  try {
    steps_.finish(context);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::wrong_thread) throw;
    error_ = std::current_exception();
  } catch (...) {
    error_ = std::current_exception();
  }
  is_complete_ = true;
  steps_ = {};
}

bool CallersWork::finish_if_ready(ContextState& context) {
  try {
    if (!is_complete_ && steps_.is_ready(context)) finish(context);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::wrong_thread) throw;
  }
  return is_complete_;
}

void CallersWork::tell() {
  if (const auto callback = std::exchange(callback_, {})) callback(error_);
}

}  // namespace tessera
