// Running sums and sorting.
#include "bench/support.h"

namespace tessera::bench {

void add_workloads() {
  const Shape square{1024, 1024};
  add("cumsum/1M", {f32({1 << 20})}, [](const Inputs& in) { return Results{cumsum(in[0])}; });
  add("cumsum/rows_of_1024x1024", {f32(square)}, [](const Inputs& in) { return Results{cumsum(in[0], 1)}; });
  add("cumsum/columns_of_1024x1024", {f32(square)}, [](const Inputs& in) { return Results{cumsum(in[0], 0)}; });
  add("cumprod/rows_of_4096x128", {f32({4096, 128}, 0.9f, 1.1f)},
      [](const Inputs& in) { return Results{cumprod(in[0], 1)}; });
  for (const auto& [name, count] :
       {std::pair{"1K", 1 << 10}, {"8K", 1 << 13}, {"64K", 1 << 16}, {"1M", 1 << 20}, {"4M", 1 << 22}})
    add("sort/" + std::string(name), {f32({count})}, [](const Inputs& in) { return Results{sort(in[0])}; });
  add("sort/rows_of_256x1024", {f32({256, 1024})}, [](const Inputs& in) { return Results{sort(in[0])}; });
  add("argsort/rows_of_256x1024", {f32({256, 1024})}, [](const Inputs& in) { return Results{argsort(in[0])}; });
  add("top_k/5_of_64x1000", {f32({64, 1000})}, [](const Inputs& in) {
    const TopK top = top_k(in[0], 5);
    return Results{top.values, top.indices};
  });
}

}  // namespace tessera::bench
