// Work beside the callers: downloads that nobody waits for, kernels that are compiled ahead.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "core/kernel/backend.h"

namespace tessera {

struct ContextState;

// The first job starts a thread, which polls every job now and then and sleeps in between: waiting for the device takes
// the context's lock, which would stall a host's frame.
class Background {
 public:
  // Does a part of the work, under the context's lock, and says whether that was the last part. Jobs do not throw.
  // Their captures go later, without the lock, and may be the last to hold the context.
  using Job = std::function<bool(ContextState&)>;

  Background(std::mutex& context_lock, ContextState&);
  ~Background();  // finishes all jobs
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void add(Job, std::function<void()> after = {});  // `after` the last part, without the lock; does not throw
  // Adds a job that calls `finish` with the download once it is ready, or with the error.
  using Finish = std::function<void(ContextState&, Download*, std::exception_ptr)>;
  void add(std::unique_ptr<Download>, Finish);

  void wait_until_idle();  // the caller does not hold the context's lock

 private:
  struct State;
  static void run(const std::shared_ptr<State>&);

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace tessera
