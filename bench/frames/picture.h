// What the camera sees.
#pragma once
#include "bench/frames/pipeline.h"

namespace tessera::bench {

// Two pictures, RGBA, of the same scene with other noise; alpha is less than 1 towards the corners. The scene is drawn
// here, or is an RGB picture of another size, stretched.
std::vector<Bytes> noisy_pictures(Size);
std::vector<Bytes> noisy_pictures(Size, const Bytes& rgb, Size size_of_rgb);

}  // namespace tessera::bench
