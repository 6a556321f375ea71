// The two ways in which a Pending comes to its result: the context's background does the work, or its callers do.
#pragma once
#include <condition_variable>
#include <mutex>

#include "core/kernel/backend.h"
#include <tessera/pending.h>

namespace tessera {

struct ContextImpl;
struct ContextState;

class BackgroundWork final : public PendingWork {
 public:
  bool is_ready() override;
  void wait() override;
  void call_when_ready(std::function<void(std::exception_ptr)>) override;

  void complete(std::exception_ptr = nullptr);  // whoever waits goes on; under the context's lock or not
  void tell();                                  // calls back if it is complete; without the context's lock

 private:
  std::mutex lock_;
  std::condition_variable completed_;
  bool is_complete_ = false;
  std::exception_ptr error_;
  std::function<void(std::exception_ptr)> callback_;
};

// Work that only the callers of a context can do, since there is no other thread, or none with the host's context.
class CallersWork final : public PendingWork, public std::enable_shared_from_this<CallersWork> {
 public:
  // All are called under the context's lock.
  struct Steps {
    std::function<bool(ContextState&)> is_ready;   // never waits
    std::function<void(ContextState&)> finish;     // waits where it must
    std::function<void(ContextState&)> advance{};  // does a part between a page's events, where there are parts
  };
  CallersWork(std::shared_ptr<ContextImpl>, Steps);
  ~CallersWork() override;  // calls back with an error whoever still waits for a call

  bool is_ready() override;
  void wait() override;
  void call_when_ready(std::function<void(std::exception_ptr)>) override;

  // Finishes the work if that need not wait, under the context's lock; false where it is not ready, or not here.
  bool finish_if_ready(ContextState&);
  void tell();  // calls back, without the lock

 private:
  void finish(ContextState&);  // keeps the error, but throws wrong_thread

  std::shared_ptr<ContextImpl> context_;  // null once the context itself holds this
  Steps steps_;
  bool is_complete_ = false;
  std::exception_ptr error_;
  std::function<void(std::exception_ptr)> callback_;
};

}  // namespace tessera
