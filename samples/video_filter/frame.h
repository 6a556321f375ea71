// A frame as a source gives it, in host memory: the planes of a decoder, the pixels of a picture, or just a number,
// from which the device draws the built-in scene.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "support/window.h"
#include <tessera/image.h>

namespace video {

using sample::Size;

struct Frame {
  enum class Layout { scene, rgb, nv12, yuv420 } layout = Layout::scene;
  int number = 0;
  Size size{};
  std::array<std::vector<std::uint8_t>, 3> planes;  // rgb: one; nv12: y and uv; yuv420: y, u and v
  tessera::Yuv yuv;
};
using FramePtr = std::shared_ptr<const Frame>;

}  // namespace video
