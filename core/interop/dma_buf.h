// The planes of a dma-buf, each as an image of its own.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <tessera/video_memory.h>

namespace tessera {

struct DmaBufImage {
  std::uint32_t fourcc;  // of one plane: R8, GR88, R16, GR32, or a format of colours
  int width, height;
  std::string channels;
  std::vector<DmaBufPlane> planes;  // of memory: more than one by the modifier only
  std::optional<std::uint64_t> modifier;
};

// Throws invalid_argument, with `op`, for a frame that cannot be, and unsupported for a format that is not known.
std::vector<DmaBufImage> images_of(std::string_view op, const DmaBuf&);

// The memory of an image that is one: a Vulkan host's, whose modifier may have several planes.
DmaBufImage image_of(const DmaBuf&);

std::string letters_of(std::uint32_t fourcc);  // for people

}  // namespace tessera
