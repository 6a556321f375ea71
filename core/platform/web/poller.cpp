#include "core/platform/poller.h"

#include <emscripten/emscripten.h>

#include <utility>

#include "core/platform/web/page_events.h"

namespace tessera {
namespace {

constexpr int milliseconds_between_turns = 1;
bool is_taking_turn = false;

}  // namespace

bool has_threads() noexcept { return false; }
bool is_between_events() noexcept { return is_taking_turn; }

struct Poller::State : std::enable_shared_from_this<Poller::State> {
  void schedule();
  // Takes turns until there is nothing to do at once. A turn may be the last to hold the Poller.
  void run() {
    const std::shared_ptr<State> held = shared_from_this();
    if (std::exchange(is_running, true)) return;
    Turn done = Turn::did_some;
    while (done == Turn::did_some && turn) done = turn();
    is_running = false;
    if (is_gone) turn = nullptr;
    else if (done == Turn::waits) schedule();
  }

  std::function<Turn()> turn;
  bool is_scheduled = false, is_running = false, is_gone = false;
};

void Poller::State::schedule() {
  if (std::exchange(is_scheduled, true)) return;
  const auto run_later = [](void* pointer) {
    const std::unique_ptr<std::shared_ptr<State>> state(static_cast<std::shared_ptr<State>*>(pointer));
    (*state)->is_scheduled = false;
    if ((*state)->is_gone) return;
    is_taking_turn = true;
    (*state)->run();
    is_taking_turn = false;
  };
  emscripten_async_call(run_later, new std::shared_ptr<State>(shared_from_this()), milliseconds_between_turns);
}

Poller::Poller(std::function<Turn()> turn) : state_(std::make_shared<State>()) { state_->turn = std::move(turn); }

Poller::~Poller() {
  state_->is_gone = true;
  state_->run();
}

void Poller::wake() { state_->schedule(); }
void Poller::wait_until_idle() { state_->run(); }

}  // namespace tessera
