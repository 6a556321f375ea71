// Pointwise work, whose chains are one kernel each: the memory sets the pace, and for small tensors the submission.
#include "bench/support.h"

namespace tessera::bench {
namespace {

Results chain_of_20(const Inputs& in) {
  Tensor x = in[0];
  for (int i = 0; i < 10; ++i) x = x * 1.01f + in[1];
  return {x};
}

}  // namespace

void add_workloads() {
  const Shape large{2048, 2048}, small{1024};
  add("add/f32_2048x2048", {f32(large), f32(large)}, [](const Inputs& in) { return Results{in[0] + in[1]}; });
  add("add/f16_2048x2048", {f16(large), f16(large)}, [](const Inputs& in) { return Results{in[0] + in[1]}; });
  add("bias_relu/4096x1024", {f32({4096, 1024}), f32({1024})},
      [](const Inputs& in) { return Results{relu(in[0] + in[1])}; });
  add("gelu/2048x2048", {f32(large, -4, 4)}, [](const Inputs& in) { return Results{gelu(in[0])}; });
  add("chain_of_20/2048x2048", {f32(large), f32(large)}, chain_of_20);
  add("chain_of_20/1024", {f32(small), f32(small)}, chain_of_20);
  add_program("chain_of_20/1024", {f32(small), f32(small)}, chain_of_20);
}

}  // namespace tessera::bench
