// What pipelines say often about images [height,width,channels].
#pragma once
#include <tessera/tessera.h>

namespace tessera::bench {

inline std::int64_t height_of(const Tensor& image) { return image.shape()[0]; }
inline std::int64_t width_of(const Tensor& image) { return image.shape()[1]; }

inline Tensor rgb_of(const Tensor& frame) {
  return frame.shape()[2] == 3 ? frame : slice(frame, {0, 0, 0}, {-1, -1, 3});
}
inline Tensor with_alpha_of(const Tensor& frame, const Tensor& rgb) {
  return frame.shape()[2] == 3 ? rgb : concat({rgb, slice(frame, {0, 0, 3}, {-1, -1, 1})}, 2);
}

}  // namespace tessera::bench
