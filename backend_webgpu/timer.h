// When passes began and ended on the device, by timestamp queries.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "backend_webgpu/download.h"
#include "core/kernel/timed_runs.h"

namespace tessera::webgpu {

bool can_time(const Device&);

// Two timestamps for each pass of one run, on their way to the host.
class TimedPasses {
 public:
  TimedPasses(std::shared_ptr<Device>, std::uint64_t run, std::size_t passes);

  // For the next pass, of this dispatch; null where there is no room for more. Valid until the next call.
  const WGPUPassTimestampWrites* writes_for(std::size_t dispatch);
  void resolve(WGPUCommandEncoder);                                     // after the last pass
  void read() { mapping_.emplace(*device_, staging_.get(), bytes()); }  // after the submission
  bool ready(bool wait) { return mapping_->ready(wait ? forever : 0); }
  TimedRun take() const;  // of a ready one

 private:
  std::uint64_t bytes() const { return std::uint64_t{capacity_} * sizeof(std::uint64_t); }

  std::shared_ptr<Device> device_;
  std::uint64_t run_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::uint32_t capacity_;
  Handle<WGPUQuerySet> queries_;
  Handle<WGPUBuffer> resolved_, staging_;
  WGPUPassTimestampWrites writes_{};
  std::vector<std::size_t> dispatches_;
  std::optional<Mapping> mapping_;
};

}  // namespace tessera::webgpu
