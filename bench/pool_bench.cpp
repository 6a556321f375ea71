// Pooling.
#include "bench/support.h"

namespace tessera::bench {

void add_workloads() {
  const Shape image{1, 128, 128, 64};
  const Pooling side_by_side{.size = {2, 2}}, overlapping{.size = {3, 3}, .strides = {1, 1}, .padding = Padding::same};
  add("max_pool/2x2_128x128x64", {f32(image)},
      [=](const Inputs& in) { return Results{max_pool(in[0], side_by_side)}; });
  add("max_pool/3x3_by_1_128x128x64", {f32(image)},
      [=](const Inputs& in) { return Results{max_pool(in[0], overlapping)}; });
  add("max_pool_with_indices/2x2_128x128x64", {f32(image)}, [=](const Inputs& in) {
    const MaxPool pooled = max_pool_with_indices(in[0], side_by_side);
    return Results{pooled.values, pooled.indices};
  });
  add("average_pool/2x2_128x128x64", {f32(image)},
      [=](const Inputs& in) { return Results{average_pool(in[0], side_by_side)}; });
  add("average_pool/3x3_by_1_128x128x64", {f32(image)},
      [=](const Inputs& in) { return Results{average_pool(in[0], overlapping)}; });
  add("global_average_pool/8x56x56x64", {f32({8, 56, 56, 64})},
      [](const Inputs& in) { return Results{global_average_pool(in[0])}; });
}

}  // namespace tessera::bench
