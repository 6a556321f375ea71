// Where frames go: pictures, a video, or raw.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frame.h"

namespace video {

class Writer {
 public:
  virtual ~Writer() = default;
  virtual bool wants([[maybe_unused]] bool is_last) const { return true; }  // whether the next frame is to be written
  virtual void write(const std::vector<std::uint8_t>& rgb) = 0;
  virtual void finish() {}
};

// By the ending of the name: see --help. Throws std::runtime_error for names without a known one.
std::unique_ptr<Writer> open_writer(const std::string& path, Size, double rate);

// video_writer.cpp
std::unique_ptr<Writer> open_video_writer(const std::string& path, Size, double rate);

}  // namespace video
