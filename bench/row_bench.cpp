// Softmax and normalisations.
#include "bench/support.h"

namespace tessera::bench {

void add_workloads() {
  const Shape image{8, 56, 56, 64};
  add("softmax/1024x1024", {f32({1024, 1024}, -4, 4)}, [](const Inputs& in) { return Results{softmax(in[0])}; });
  add("softmax/8x128x128", {f32({8, 128, 128}, -4, 4)}, [](const Inputs& in) { return Results{softmax(in[0])}; });
  add("log_softmax/64x1000", {f32({64, 1000}, -4, 4)}, [](const Inputs& in) { return Results{log_softmax(in[0])}; });
  add("layer_norm/512x768", {f32({512, 768}), f32({768}), f32({768})},
      [](const Inputs& in) { return Results{layer_norm(in[0], {.gamma = in[1], .beta = in[2]})}; });
  add("rms_norm/512x768", {f32({512, 768}), f32({768})},
      [](const Inputs& in) { return Results{rms_norm(in[0], {.gamma = in[1]})}; });
  add("batch_norm/8x56x56x64", {f32(image), f32({64}), f32({64}, 0.5f, 1)},
      [](const Inputs& in) { return Results{batch_norm(in[0], in[1], in[2])}; });
  add("instance_norm/8x56x56x64", {f32(image)}, [](const Inputs& in) { return Results{instance_norm(in[0])}; });
  add("group_norm/8x56x56x64", {f32(image)}, [](const Inputs& in) { return Results{group_norm(in[0], 8)}; });
  add("l2_normalize/1024x512", {f32({1024, 512})}, [](const Inputs& in) { return Results{l2_normalize(in[0])}; });
  add("lrn/1x56x56x64", {f32({1, 56, 56, 64})}, [](const Inputs& in) { return Results{lrn(in[0])}; });
}

}  // namespace tessera::bench
