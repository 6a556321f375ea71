#include "core/interop/dma_buf.h"

#include <algorithm>
#include <array>

#include "core/base/fail.h"

namespace tessera {
namespace {

struct PlaneFormat {
  std::string_view letters{};  // of the plane alone; empty: there is none
  int pixel_bytes = 0;
  std::string_view channels{};
  int x = 1, y = 1;  // pixels of the frame for one of the plane
};
struct FrameFormat {
  std::string_view letters;
  std::array<PlaneFormat, 3> planes;
};

constexpr PlaneFormat luma8{"R8  ", 1, "R"}, luma16{"R16 ", 2, "R"};
constexpr std::array frame_formats{
    FrameFormat{"NV12", {luma8, {"GR88", 2, "RG", 2, 2}}},
    FrameFormat{"NV21", {luma8, {"GR88", 2, "GR", 2, 2}}},
    FrameFormat{"NV16", {luma8, {"GR88", 2, "RG", 2, 1}}},
    FrameFormat{"P010", {luma16, {"GR32", 4, "RG", 2, 2}}},
    FrameFormat{"P012", {luma16, {"GR32", 4, "RG", 2, 2}}},
    FrameFormat{"P016", {luma16, {"GR32", 4, "RG", 2, 2}}},
    FrameFormat{"YU12", {luma8, {"R8  ", 1, "R", 2, 2}, {"R8  ", 1, "R", 2, 2}}},
    FrameFormat{"AB24", {{{"AB24", 4, "RGBA"}}}},
    FrameFormat{"AR24", {{{"AR24", 4, "RGBA"}}}},
    FrameFormat{"XB24", {{{"XB24", 4, "RGB"}}}},
    FrameFormat{"XR24", {{{"XR24", 4, "RGB"}}}},
    FrameFormat{"R8  ", {luma8}},
    FrameFormat{"GR88", {{{"GR88", 2, "RG"}}}},
    FrameFormat{"R16 ", {luma16}},
    FrameFormat{"GR32", {{{"GR32", 4, "RG"}}}},
};

const FrameFormat& format_of_frame(std::string_view op, std::uint32_t code) {
  const auto format =
      std::ranges::find_if(frame_formats, [&](const FrameFormat& each) { return fourcc(each.letters) == code; });
  if (format != frame_formats.end()) return *format;
  std::string known;
  for (const FrameFormat& each : frame_formats) known += (known.empty() ? "" : ", ") + std::string(each.letters);
  fail(ErrorCode::unsupported, op,
       "the frame has the format " + letters_of(code) + "; it can be one of " + known + ".");
}

}  // namespace

std::string letters_of(std::uint32_t code) {
  std::string letters;
  for (int i = 0; i < 4; ++i) {
    const auto letter = static_cast<char>(code >> (8 * i) & 0xff);
    if (letter < ' ' || letter > '~') return std::to_string(code);
    letters += letter;
  }
  return letters;
}

std::vector<DmaBufImage> images_of(std::string_view op, const DmaBuf& frame) {
  const auto refuse = [&](const std::string& why) { fail(ErrorCode::invalid_argument, op, why); };
  const FrameFormat& format = format_of_frame(op, frame.fourcc);
  if (frame.width <= 0 || frame.height <= 0)
    refuse("a frame of " + std::to_string(frame.width) + " x " + std::to_string(frame.height) + " pixels.");
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(format.planes, [](const PlaneFormat& plane) { return !plane.letters.empty(); }));
  if (frame.planes.size() != count)
    refuse("a frame of the format " + std::string(format.letters) + " has " + std::to_string(count) +
           " planes; it has been given " + std::to_string(frame.planes.size()) + ".");
  std::vector<DmaBufImage> images;
  for (std::size_t i = 0; i < count; ++i) {
    const PlaneFormat& of_plane = format.planes[i];
    const DmaBufPlane& plane = frame.planes[i];
    const int width = (frame.width + of_plane.x - 1) / of_plane.x,
              height = (frame.height + of_plane.y - 1) / of_plane.y;
    if (plane.fd < 0) refuse("plane " + std::to_string(i) + " has no file descriptor.");
    if (const auto row = static_cast<std::uint32_t>(width * of_plane.pixel_bytes); plane.stride < row)
      refuse("plane " + std::to_string(i) + " has a stride of " + std::to_string(plane.stride) + " bytes; a row of " +
             std::to_string(width) + " pixels takes " + std::to_string(row) + ".");
    images.push_back(
        {fourcc(of_plane.letters), width, height, std::string(of_plane.channels), {plane}, frame.modifier});
  }
  return images;
}

DmaBufImage image_of(const DmaBuf& memory) {
  return {memory.fourcc, memory.width, memory.height, "RGBA", memory.planes, memory.modifier};
}

}  // namespace tessera
