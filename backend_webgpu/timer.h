// When passes began and ended on the device, by timestamp queries.
#pragma once
#include <chrono>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "backend_webgpu/device.h"

namespace tessera::webgpu {

// What a run's ticks tell, begin and end of each of these dispatches, in nanoseconds. None of it can have taken longer
// than `longest` microseconds: what did is left out.
std::vector<DispatchTime> times_of(std::span<const std::size_t> dispatches, std::span<const std::uint64_t> ticks,
                                   double longest);

// Two timestamps for each pass of one run, on their way to the host.
class TimedPasses {
 public:
  TimedPasses(std::shared_ptr<Device>, std::uint64_t run, std::size_t passes);
  ~TimedPasses();
  TimedPasses(const TimedPasses&) = delete;
  TimedPasses& operator=(const TimedPasses&) = delete;

  // For the next pass, of this dispatch; null where there is no room for more. Valid until the next call.
  const WGPUPassTimestampWrites* writes_for(std::size_t dispatch);
  void resolve(WGPUCommandEncoder);  // after the last pass
  void read();                       // after the submission
  bool ready(bool wait);
  TimedRun take() const;  // of a ready one

 private:
  std::shared_ptr<Device> device_;
  std::uint64_t run_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::uint32_t capacity_;
  Handle<WGPUQuerySet> queries_;
  Handle<WGPUBuffer> resolved_, staging_;
  WGPUPassTimestampWrites writes_{};
  std::vector<std::size_t> dispatches_;
  WGPUFuture future_{};
  bool is_pending_ = false, is_mapped_ = false;
};

class Timer {
 public:
  explicit Timer(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  bool start(bool on);
  bool is_on() const { return is_on_; }
  std::uint64_t next_run() { return runs_++; }
  void add(std::unique_ptr<TimedPasses> passes) { under_way_.push_back(std::move(passes)); }
  std::vector<TimedRun> take(bool wait);

 private:
  std::shared_ptr<Device> device_;
  bool is_on_ = false;
  std::uint64_t runs_ = 0;
  std::deque<std::unique_ptr<TimedPasses>> under_way_;
};

}  // namespace tessera::webgpu
