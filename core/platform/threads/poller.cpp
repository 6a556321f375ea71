#include "core/platform/poller.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace tessera {

bool has_threads() noexcept { return true; }

struct Poller::State {
  void run();

  std::function<Turn()> turn;
  std::thread thread{};
  std::mutex lock{};  // guards what follows
  std::condition_variable changed{};
  bool is_woken = false;
  bool is_busy = false;
  bool is_stopping = false;
  bool is_orphaned = false;  // the Poller went with the last turn
};

// Sleeps between turns that wait: a turn takes locks that would stall others.
void Poller::State::run() {
  using namespace std::chrono_literals;
  constexpr auto shortest = 50us, longest = 1000us;
  bool has_work = false;
  for (auto pause = shortest;; pause = std::min(2 * pause, longest)) {
    {
      std::unique_lock hold(lock);
      if (is_orphaned) return;
      if (std::exchange(is_busy, has_work) && !has_work) changed.notify_all();
      changed.wait(hold, [&] { return has_work || is_woken || is_stopping; });
      if (!has_work && !is_woken) return;
      if (std::exchange(is_woken, false)) pause = shortest;
      is_busy = true;
    }
    const Turn done = turn();
    has_work = done != Turn::idle;
    if (done == Turn::waits) std::this_thread::sleep_for(pause);
    else pause = shortest;
  }
}

Poller::Poller(std::function<Turn()> turn) : state_(std::make_shared<State>()) { state_->turn = std::move(turn); }

Poller::~Poller() {
  const bool is_own_thread = state_->thread.get_id() == std::this_thread::get_id();
  {
    const std::scoped_lock hold(state_->lock);
    state_->is_stopping = true;
    state_->is_orphaned = is_own_thread;
  }
  state_->changed.notify_all();
  if (is_own_thread) state_->thread.detach();
  else if (state_->thread.joinable()) state_->thread.join();
}

void Poller::wake() {
  const std::scoped_lock hold(state_->lock);
  state_->is_woken = true;
  if (!state_->thread.joinable()) state_->thread = std::thread([state = state_] { state->run(); });
  state_->changed.notify_all();
}

void Poller::wait_until_idle() {
  std::unique_lock hold(state_->lock);
  state_->changed.wait(hold, [&] { return !state_->is_woken && !state_->is_busy; });
}

}  // namespace tessera
