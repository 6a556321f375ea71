// Quantisation and random numbers.
#include "bench/support.h"

namespace tessera::bench {

void add_workloads() {
  const Shape large{2048, 2048};
  add("quantize/2048x2048", {f32(large)}, [](const Inputs& in) {
    const Quantized its = quantize(in[0]);
    return Results{its.values, its.scale};
  });
  add("quantize/columns_of_2048x2048", {f32(large)}, [](const Inputs& in) {
    const Quantized its = quantize(in[0], 1);
    return Results{its.values, its.scale};
  });
  add("dequantize/2048x2048", {i8(large), f32({})}, [](const Inputs& in) { return Results{dequantize(in[0], in[1])}; });
  add("quantize_linear/columns_of_2048x2048", {f32(large), f32({2048}, 0.01f, 0.02f), u8({2048})},
      [](const Inputs& in) { return Results{quantize_linear(in[0], in[1], in[2])}; });
  add("dynamic_quantize_linear/2048x2048", {f32(large)}, [](const Inputs& in) {
    const DynamicQuantized its = dynamic_quantize_linear(in[0]);
    return Results{its.values, its.scale, its.zero_point};
  });
  add("fake_quantize/2048x2048", {f32(large)}, [](const Inputs& in) { return Results{fake_quantize(in[0])}; });
  add("uniform/4M", {}, [=](const Inputs& in) { return Results{uniform(in.context, large, 7)}; });
  add("normal/4M", {}, [=](const Inputs& in) { return Results{normal(in.context, large, 7)}; });
  add("uniform_integers/4M", {},
      [=](const Inputs& in) { return Results{uniform_integers(in.context, large, 7, 0, 1000)}; });
}

}  // namespace tessera::bench
