// Reductions: over everything, over the last axis, over the first one, over the pixels of images.
#include "bench/support.h"

namespace tessera::bench {

void add_workloads() {
  const Shape large{2048, 2048};
  add("sum/all_of_2048x2048", {f32(large)}, [](const Inputs& in) { return Results{sum(in[0])}; });
  add("sum/rows_of_2048x2048", {f32(large)}, [](const Inputs& in) { return Results{sum(in[0], {.axes = {1}})}; });
  add("sum/columns_of_2048x2048", {f32(large)}, [](const Inputs& in) { return Results{sum(in[0], {.axes = {0}})}; });
  add("max/rows_of_2048x2048", {f32(large)}, [](const Inputs& in) { return Results{max(in[0], {.axes = {1}})}; });
  add("mean/pixels_of_1x256x256x64", {f32({1, 256, 256, 64})}, [](const Inputs& in) {
    return Results{mean(in[0], {.axes = {1, 2}})};
  });
  add("mean_square_error/4M", {f32(large), f32(large)},
      [](const Inputs& in) { return Results{mean(squared_difference(in[0], in[1]))}; });
  add("logsumexp/1024x1024", {f32({1024, 1024})},
      [](const Inputs& in) { return Results{logsumexp(in[0], {.axes = {1}})}; });
  add("argmax/1024x1000", {f32({1024, 1000})}, [](const Inputs& in) { return Results{argmax(in[0])}; });
}

}  // namespace tessera::bench
