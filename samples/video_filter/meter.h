// How fast frames come, for the title of the window.
#pragma once
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include <tessera/context.h>

namespace video {

// Of the frame in the middle: one that waited for something else says nothing about the others.
double median_milliseconds(std::vector<std::chrono::steady_clock::duration>);

// Where the kernels came from: "gles: 12 kernels compiled, 0 from the cache".
void print_kernels(const tessera::Context&);

class Meter {
 public:
  using Clock = std::chrono::steady_clock;

  void add_frame(Clock::duration host_work) { host_work_.push_back(host_work); }
  bool is_due() const { return Clock::now() - since_ >= std::chrono::seconds(1); }
  void make_due() { since_ = {}; }
  // Computes with the device's own clock running, and gives a line like "host 0.4 ms, device 6.2 ms, 60 fps".
  std::string measure(tessera::Context&, std::span<const tessera::Tensor>);

 private:
  Clock::time_point since_{}, counted_since_ = Clock::now();
  std::vector<Clock::duration> host_work_;  // of each frame since then
};

}  // namespace video
