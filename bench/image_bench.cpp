// Frames of video: sizes, colours, filters, histograms, and all of the way into a network.
#include "bench/support.h"

namespace tessera::bench {
namespace {

// From a decoder's planes to what a network takes.
Results preprocessed(const Inputs& in) { return {resize_bilinear(nv12_to_rgb(in[0], in[1]), 224, 224) * 2.0f - 1.0f}; }

}  // namespace

void add_workloads() {
  const Shape hd{720, 1280, 4};
  const Operand y = u8({1080, 1920}), uv = u8({540, 960, 2});
  add("nv12_to_rgb/1920x1080", {y, uv}, [](const Inputs& in) { return Results{nv12_to_rgb(in[0], in[1])}; });
  add("rgb_to_nv12/1280x720", {u8({720, 1280, 3})}, [](const Inputs& in) {
    const Nv12 planes = rgb_to_nv12(in[0]);
    return Results{planes.y, planes.uv};
  });
  add("preprocessed/1920x1080_to_224x224", {y, uv}, preprocessed);
  add_program("preprocessed/1920x1080_to_224x224", {y, uv}, preprocessed);
  add("resize/bilinear_1280x720_to_640x360", {f32(hd, 0, 1)},
      [](const Inputs& in) { return Results{resize_bilinear(in[0], 360, 640)}; });
  add("resize/cubic_640x360_to_1280x720", {f32({360, 640, 4}, 0, 1)},
      [](const Inputs& in) { return Results{resize(in[0], 720, 1280, {.mode = Interpolation::cubic})}; });
  add("affine_transform/1280x720", {u8(hd)}, [](const Inputs& in) {
    return Results{affine_transform(in[0], {0.96f, 0.26f, -80, -0.26f, 0.96f, 180})};
  });
  add("colour_matrix/1280x720", {u8(hd)}, [](const Inputs& in) {
    return Results{colour_matrix(in[0], {0.9f, 0.1f, 0, 0, 0.1f, 0.8f, 0.1f, 0, 0, 0.1f, 0.9f, 0, 0, 0, 0, 1})};
  });
  add("colour_lookup/33_1280x720", {f32(hd, 0, 1), f32({33, 33, 33, 3}, 0, 1)},
      [](const Inputs& in) { return Results{colour_lookup(in[0], in[1])}; });
  add("gaussian_blur/2_1280x720", {f32(hd, 0, 1)}, [](const Inputs& in) { return Results{gaussian_blur(in[0], 2)}; });
  add("sobel/1280x720", {f32({720, 1280, 1}, 0, 1)}, [](const Inputs& in) {
    const Gradient gradient = sobel(in[0]);
    return Results{gradient.x, gradient.y};
  });
  add("histogram/256_1280x720", {u8(hd)}, [](const Inputs& in) { return Results{histogram(in[0])}; });
}

}  // namespace tessera::bench
