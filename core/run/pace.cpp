#include "core/run/pace.h"

#include <algorithm>
#include <string>
#include <utility>

#include <tessera/error.h>

namespace tessera {

void Pace::mark(Backend& backend) {
  if (unmarked_ == 0) return;
  const std::size_t submissions = std::exchange(unmarked_, 0);
  std::unique_ptr<Mark> made = backend.mark();
  if (!made) return;  // the device has done them already
  marked_.push_back({std::move(made), submissions});
  in_marked_ += submissions;
}

void Pace::drop_reached() {
  while (!marked_.empty() && marked_.front().mark->is_reached()) {
    in_marked_ -= marked_.front().submissions;
    marked_.pop_front();
  }
}

void Pace::make_room(Backend& backend) {
  if (most_ == 0 || in_marked_ + unmarked_ < most_) return;
  mark(backend);
  drop_reached();
  while (in_marked_ >= most_) {
    if (!backend.can_wait())
      throw Error(ErrorCode::busy,
                  "The device has " + std::to_string(in_marked_) + " submissions before it, which are as many as " +
                      "ContextOptions::max_submissions_under_way (" + std::to_string(most_) +
                      ") allows, and this page cannot wait: skip a frame while Context::submissions_under_way() says "
                      "that there are many.");
    marked_.front().mark->wait();
    in_marked_ -= marked_.front().submissions;
    marked_.pop_front();
  }
}

// Marks cost little, and nothing at all where there are few. Half of what is allowed lies between two of them, so that
// the device still has work when the host has waited for the first.
void Pace::submitted(Backend& backend) {
  ++unmarked_;
  if (most_ != 0 && unmarked_ >= std::max<std::size_t>(most_ / 2, 1)) mark(backend);
}

std::size_t Pace::under_way(Backend& backend) {
  mark(backend);
  drop_reached();
  return in_marked_;
}

void Pace::forget() {
  marked_.clear();
  in_marked_ = unmarked_ = 0;
}

}  // namespace tessera
