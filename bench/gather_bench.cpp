// Moving elements. Views are computed here, so that their elements are copied; where pointwise work follows, they cost
// nothing of their own.
#include "bench/support.h"

namespace tessera::bench {

void add_workloads() {
  const Shape large{2048, 2048}, image{1, 256, 256, 64};
  add("transpose/2048x2048", {f32(large)}, [](const Inputs& in) { return Results{transpose(in[0])}; });
  add("transpose/nhwc_to_nchw_256x256x64", {f32(image)}, [](const Inputs& in) {
    return Results{transpose(in[0], {0, 3, 1, 2})};
  });
  add("slice/2040x2040_of_2048x2048", {f32(large)}, [](const Inputs& in) {
    return Results{slice(in[0], {3, 5}, {2040, 2040})};
  });
  add("concat/channels_of_256x256x64", {f32(image), f32(image)},
      [](const Inputs& in) { return Results{concat(in.tensors, -1)}; });
  add("pad/reflect_256x256x64", {f32(image)}, [](const Inputs& in) {
    return Results{pad(in[0], {{0, 0}, {2, 2}, {2, 2}, {0, 0}}, PadMode::reflect)};
  });
  add("depth_to_space/2_256x256x64", {f32(image)}, [](const Inputs& in) { return Results{depth_to_space(in[0], 2)}; });
  add("gather/10000_rows_of_10000x256", {f32({10000, 256}), indices({10000}, 10000)},
      [](const Inputs& in) { return Results{gather(in[0], in[1])}; });
  add("scatter_nd/256_rows_into_1024x64", {indices({256, 1}, 1024), f32({256, 64})}, [](const Inputs& in) {
    return Results{scatter_nd(in[0], in[1], {1024, 64})};
  });
  add("scatter_nd/512x512_elements_into_512x512", {indices({512, 512, 2}, 512), f32({512, 512})}, [](const Inputs& in) {
    return Results{scatter_nd(in[0], in[1], {512, 512})};
  });
  add("one_hot/4096_of_1000", {indices({4096}, 1000)}, [](const Inputs& in) { return Results{one_hot(in[0], 1000)}; });
}

}  // namespace tessera::bench
