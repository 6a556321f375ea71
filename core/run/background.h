// Work that goes on beside the callers: downloads that nobody waits for, kernels that are compiled ahead.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "core/kernel/backend.h"

namespace tessera {

struct ContextState;

// A thread, started by the first job, that goes on with every job now and then and sleeps in between: the device can be
// waited for only under the context's lock, which would stall a host's frame.
class Background {
 public:
  // Does a part of the work, under the context's lock, and answers whether that was the last one. It does not throw.
  // What a job has captured goes later, without the lock, and may be the last to hold the context.
  using Job = std::function<bool(ContextState&)>;

  Background(std::mutex& context_lock, ContextState&);
  ~Background();  // finishes what is under way
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void add(Job);
  // A job that gives `finish` the download once it is ready, or what went wrong.
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
