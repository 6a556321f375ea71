// Work beside the program's own.
#pragma once
#include <functional>
#include <memory>

namespace tessera {

// Whether a program can wait for something that it does itself meanwhile, on another thread. A page cannot: there, all
// that is not done at once is done after its code has returned.
bool has_threads() noexcept;

// Calls a function now and then while that has something to do: on a thread of its own, which the first wake() starts,
// or between the events of a page.
class Poller {
 public:
  enum class Turn { did_some, waits, idle };  // the function waits for what is not ready, or has nothing to do

  explicit Poller(std::function<Turn()>);  // does not throw, and may destroy the Poller
  // Calls the function until it is idle, or in a page until it waits; not at all where the function itself is the
  // caller.
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  void wake();  // there is something to do; any thread may call
  // Returns when there is nothing to do; in a page when there is nothing to do at once.
  void wait_until_idle();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tessera
