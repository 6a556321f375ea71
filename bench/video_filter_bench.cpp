// Frames per second of each filter of samples/video_filter at 1280x720, the drawing of the scene included, and how long
// the host works on one.
#include "bench/support.h"
#include "pipeline.h"

namespace tessera::bench {
namespace {

std::function<void()> frames_of(Context& gpu, const char* filter) {
  const auto pipeline =
      std::make_shared<video::Pipeline>(gpu, video::Size{1280, 720}, std::vector<std::string>{filter});
  return [&gpu, pipeline, number = 0]() mutable {
    video::Filtered filtered = (*pipeline)(std::make_shared<video::Frame>(video::Frame{.number = number++}));
    filtered.image = to_u8(filtered.image);
    gpu.compute(filtered.all());
  };
}

}  // namespace

void add_workloads() {
  for (const video::FilterEntry& filter : video::filters())
    add_frames(std::string(filter.name) + "/1280x720", [&](Context& gpu) { return frames_of(gpu, filter.name); });
}

}  // namespace tessera::bench
