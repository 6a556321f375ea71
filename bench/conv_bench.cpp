// Convolutions of the sizes that networks for images have.
#include "bench/support.h"

namespace tessera::bench {
namespace {

// Of a filter [...,in,out] at each of the result's pixels.
double flops_of(const Shape& filter, std::int64_t pixels) { return 2.0 * static_cast<double>(filter.size() * pixels); }

void add_conv2d(const std::string& name, const Operand& image, const Operand& filter, const Conv2d& options) {
  const auto along = [&](int axis) {
    const std::int64_t stride = options.strides[static_cast<std::size_t>(axis - 1)];
    return (image.shape[axis] + stride - 1) / stride;
  };
  add(
      name, {image, filter}, [options](const Inputs& in) { return Results{conv2d(in[0], in[1], options)}; },
      flops_of(filter.shape, image.shape[0] * along(1) * along(2)));
}

}  // namespace

void add_workloads() {
  const Conv2d same{.padding = Padding::same};
  add_conv2d("conv2d/3x3_128x128x16_to_32", f32({1, 128, 128, 16}), f32({3, 3, 16, 32}), same);
  add_conv2d("conv2d/3x3_56x56x64_to_64", f32({1, 56, 56, 64}), f32({3, 3, 64, 64}), same);
  add_conv2d("conv2d/3x3_56x56x64_to_64_f16", f16({1, 56, 56, 64}), f16({3, 3, 64, 64}), same);
  add_conv2d("conv2d/3x3_56x56x64_to_64_i8", i8({1, 56, 56, 64}), i8({3, 3, 64, 64}), same);
  add_conv2d("conv2d/1x1_64x64x64_to_128", f32({1, 64, 64, 64}), f32({1, 1, 64, 128}), same);
  add_conv2d("conv2d/7x7_by_2_224x224x3_to_64", f32({1, 224, 224, 3}), f32({7, 7, 3, 64}),
             {.strides = {2, 2}, .padding = Padding::same});
  add_conv2d("conv2d/depthwise_3x3_128x128x32", f32({1, 128, 128, 32}), f32({3, 3, 1, 32}),
             {.padding = Padding::same, .groups = 32});
  add(
      "conv1d/9_16000x1_to_32", {f32({1, 16000, 1}), f32({9, 1, 32})},
      [](const Inputs& in) { return Results{conv1d(in[0], in[1], {.padding = Padding::same})}; },
      flops_of({9, 1, 32}, 16000));
  add(
      "conv3d/3x3x3_16x32x32x8_to_16", {f32({1, 16, 32, 32, 8}), f32({3, 3, 3, 8, 16})},
      [](const Inputs& in) { return Results{conv3d(in[0], in[1], {.padding = Padding::same})}; },
      flops_of({3, 3, 3, 8, 16}, 16 * 32 * 32));
  add(
      "conv2d_transpose/4x4_by_2_32x32x64_to_32", {f32({1, 32, 32, 64}), f32({4, 4, 32, 64})},
      [](const Inputs& in) {
        return Results{conv2d_transpose(in[0], in[1], {.strides = {2, 2}, .padding = Padding::same})};
      },
      flops_of({4, 4, 32, 64}, 32 * 32));
}

}  // namespace tessera::bench
