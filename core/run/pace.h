// How much work a device may have before it: a host that never waits, a page above all, would queue without end.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>

#include "core/kernel/backend.h"

namespace tessera {

// Counts submissions that the device has not done. The device is asked by marks, each behind several submissions.
class Pace {
 public:
  explicit Pace(std::size_t most) : most_(most) {}  // 0: no bound

  // Before a submission. Waits until the device has done some of those before it; throws busy where nothing can wait.
  void make_room(Backend&);
  void submitted(Backend&);
  std::size_t under_way(Backend&);  // never waits
  void forget();                    // the device is another one

 private:
  void mark(Backend&);
  void drop_reached();

  struct Marked {
    std::unique_ptr<Mark> mark;
    std::size_t submissions;
  };
  std::size_t most_;
  std::deque<Marked> marked_;
  std::size_t in_marked_ = 0;  // submissions
  std::size_t unmarked_ = 0;
};

}  // namespace tessera
