// Finishes downloads that nobody waits for.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "core/backend.h"

namespace tessera {

// A thread, started by the first download, that asks now and then whether one is ready and sleeps in between: the
// device can be waited for only under the context's lock, which would stall a host's frame.
class Reader {
 public:
  // Gets the download, or what went wrong, under the context's lock. What it has captured goes later, without the lock,
  // and may be the last to hold the context.
  using Finish = std::function<void(Download*, std::exception_ptr)>;

  explicit Reader(std::mutex& context_lock);
  ~Reader();  // finishes what is under way
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void add(std::unique_ptr<Download>, Finish);

 private:
  struct State;
  static void run(const std::shared_ptr<State>&);

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace tessera
