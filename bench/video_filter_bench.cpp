// Frames per second of each filter of samples/video_filter at 1280x720, over a picture that is on the device already,
// and how long the host works on one.
#include "bench/support.h"
#include "pipeline.h"

namespace tessera::bench {
namespace {

// A picture of many colours and edges.
video::FramePtr picture() {
  video::Frame frame{.layout = video::Frame::Layout::rgb, .size = {1280, 720}};
  for (int y = 0; y < frame.size.height; ++y)
    for (int x = 0; x < frame.size.width; ++x)
      for (const int value : {x * x / 97 + y, y * y / 61 - x, x ^ y})
        frame.planes[0].push_back(static_cast<std::uint8_t>(value & 255));
  return std::make_shared<const video::Frame>(std::move(frame));
}

std::function<void()> frames_of(Context& gpu, const char* filter) {
  const auto pipeline =
      std::make_shared<video::Pipeline>(gpu, video::Size{1280, 720}, std::vector<std::string>{filter});
  return [&gpu, pipeline, frame = picture()] {
    video::Filtered filtered = (*pipeline)(frame);
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
