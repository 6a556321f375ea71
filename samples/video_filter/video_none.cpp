// In place of video_reader.cpp and video_writer.cpp, where FFmpeg is missing.
#include <stdexcept>

#include "source.h"
#include "writer.h"

namespace video {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(
      what + " needs FFmpeg, which this build did not find (libavformat-dev, libavcodec-dev, libswscale-dev)");
}

}  // namespace

std::unique_ptr<Source> open_video(const std::string& path) { fail(path); }
std::unique_ptr<Source> open_camera(const std::string& device) { fail(device); }
std::unique_ptr<Writer> open_video_writer(const std::string& path, Size, double) { fail(path); }

}  // namespace video
