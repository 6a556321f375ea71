// Work beside the callers: downloads that nobody waits for, kernels that are compiled ahead.
#pragma once
#include <functional>
#include <memory>
#include <mutex>

#include "core/kernel/backend.h"
#include "core/platform/poller.h"
#include "core/run/context_lock.h"

namespace tessera {

struct ContextState;

// Every job is asked now and then: waiting for the device takes the context's lock, which would stall a host's frame.
// It goes when all jobs are done; in a page, those that are not ready are dropped.
class Background {
 public:
  // Does a part of the work, under the context's lock, and says whether that was the last part. Jobs do not throw.
  // Their captures go later, without the lock, and may be the last to hold the context.
  using Job = std::function<bool(ContextState&)>;

  Background(ContextLock& context_lock, ContextState&);

  void add(Job, std::function<void()> after = {});  // `after` the last part, without the lock; does not throw
  // Adds a job that calls `finish` with the download once it is ready, or with the error.
  using Finish = std::function<void(ContextState&, Download*, std::exception_ptr)>;
  void add(std::unique_ptr<Download>, Finish, std::function<void()> after = {});

  void wait_until_idle() { poller_.wait_until_idle(); }  // the caller does not hold the context's lock

 private:
  struct State;
  std::shared_ptr<State> state_;
  Poller poller_;
};

}  // namespace tessera
