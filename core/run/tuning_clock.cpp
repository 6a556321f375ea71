#include "core/run/tuning_clock.h"

#include <atomic>

namespace tessera {
namespace {

using std::chrono::steady_clock;

std::atomic<bool> is_stopped{false};
std::atomic<steady_clock::rep> time_when_stopped{0};

}  // namespace

steady_clock::time_point tuning_now() {
  return is_stopped ? steady_clock::time_point(steady_clock::duration(time_when_stopped)) : steady_clock::now();
}

void stop_tuning_clock() {
  if (is_stopped) return;
  time_when_stopped = steady_clock::now().time_since_epoch().count();
  is_stopped = true;
}

void move_tuning_clock(std::chrono::nanoseconds by) {
  stop_tuning_clock();
  time_when_stopped += std::chrono::duration_cast<steady_clock::duration>(by).count();
}

}  // namespace tessera
