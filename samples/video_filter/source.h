// Where frames come from.
#pragma once
#include <memory>
#include <string>

#include "frame.h"

namespace video {

class Source {
 public:
  virtual ~Source() = default;
  virtual FramePtr next() = 0;    // null: there are no more. Throws std::runtime_error where the source is broken
  virtual void rewind() {}        // to the first frame again, where that is possible
  virtual Size size() const = 0;  // {0,0}: any
  virtual double rate() const { return 30; }
};

// "scene", the built-in one, from its frame `first` on; "camera" or "camera:/dev/video1"; else a file: a picture or a
// video. Throws std::runtime_error with one line where it cannot be opened.
std::unique_ptr<Source> open_source(const std::string& name, int first);

// video_reader.cpp
std::unique_ptr<Source> open_video(const std::string& path);
std::unique_ptr<Source> open_camera(const std::string& device);

}  // namespace video
