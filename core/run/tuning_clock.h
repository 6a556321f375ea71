// The clock by which plans age and trials are paid for: the steady one, which tests can stop and move.
#pragma once
#include <chrono>

namespace tessera {

std::chrono::steady_clock::time_point tuning_now();

// For tests: it stands still, in the whole process, but for what it is moved by.
void stop_tuning_clock();
void move_tuning_clock(std::chrono::nanoseconds);

}  // namespace tessera
