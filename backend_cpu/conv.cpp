// The convolutions of core/ops/conv.cpp.
#include "backend_cpu/window.h"

namespace tessera::cpu {
namespace {

// Transposed, a pixel is met where a window of the convolution starts at it.
std::int64_t meets_transposed(const WindowAxis& axis, std::int64_t at, std::int64_t tap) {
  const std::int64_t along = at + axis.before - tap * axis.dilation;
  return along >= 0 && along % axis.stride == 0 ? along / axis.stride : -1;
}

// Calls take(output, image value, weight) for each product that belongs to an output.
template <class Take>
void for_each_product(const FamilyRun& run, const Take& take) {
  const auto parameters = parameters_of<ConvParameters>(run);
  const std::int64_t in = parameters.image_in_group, out = parameters.result_in_group;
  const bool is_transposed = options_of<ConvOptions>(run).is_transposed;
  for (std::size_t output = 0; output < run.result.size(); ++output) {
    const auto channel = static_cast<std::int64_t>(output) % parameters.result_channels;
    const auto result_pixel = static_cast<std::int64_t>(output) / parameters.result_channels;
    for_each_tap(parameters.axes, result_pixel, is_transposed ? meets_transposed : window_meets,
                 [&](std::int64_t pixel, std::int64_t tap) {
                   for (std::int64_t i = 0; i < in; ++i) {
                     const std::int64_t image = pixel * parameters.image_channels + channel / out * in + i;
                     const std::int64_t weight =
                         is_transposed
                             ? (tap * out + channel % out) * parameters.image_channels + channel / out * in + i
                             : (tap * in + i) * parameters.result_channels + channel;
                     take(output, run.operands[0][index_of(image)], run.operands[1][index_of(weight)]);
                   }
                 });
  }
}

void conv_floats(const FamilyRun& run) {
  std::vector<double> totals(run.result.size());
  for_each_product(run, [&](std::size_t output, Value image, Value weight) {
    totals[output] += static_cast<double>(image.real) * static_cast<double>(weight.real);
  });
  for (std::size_t i = 0; i < totals.size(); ++i) run.result[i].real = static_cast<float>(totals[i]);
}

// In unsigned numbers, which may wrap around.
void conv_integers(const FamilyRun& run) {
  for (Value& value : run.result) value.whole = 0;
  for_each_product(run, [&](std::size_t output, Value image, Value weight) {
    std::int32_t& total = run.result[output].whole;
    total = static_cast<std::int32_t>(static_cast<std::uint32_t>(total) + static_cast<std::uint32_t>(image.whole) *
                                                                              static_cast<std::uint32_t>(weight.whole));
  });
}

constexpr auto conv = by_type<conv_floats, conv_integers>;
}  // namespace

std::span<const FamilyFunction> conv_functions() {
  static constexpr FamilyFunction functions[] = {
      {"conv", conv}, {"conv_texel", conv}, {"conv_strip", conv}, {"conv_slide", conv}};
  return functions;
}

}  // namespace tessera::cpu
