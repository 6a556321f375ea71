// Convolutions and pools. Images and filters lie as tessera wants them.
#include <algorithm>

#include "models/tfjs/operators.h"

namespace tessera::tfjs {

namespace {

// Of an attribute with a number for each axis, [1,y,x,1], those of the spatial axes.
Sizes spatial(const Call& call, std::string_view name, std::size_t axes) {
  const std::optional<Sizes> given = call.integers(name);
  if (!given || given->empty()) return Sizes(axes, 1);
  const bool fits = given->size() == axes + 2 && given->front() == 1 && given->back() == 1 &&
                    std::ranges::all_of(*given, [](std::int64_t n) { return n >= 1 && n <= Shape::max_size; });
  call.expect(fits, "its '" + std::string(name) + "' is not a number of at least 1 for each of " +
                        std::to_string(axes) + " axes, with 1 before and after them.");
  return {given->begin() + 1, given->end() - 1};
}

struct Margin {
  Padding padding = Padding::valid;
  std::optional<Sizes> pads{};  // before and after each spatial axis
};

Margin margin_of(const Call& call, std::size_t axes) {
  expect_channels_last(call);
  const std::string kind = call.text("padding", "VALID");
  if (kind == "SAME") return {.padding = Padding::same};
  if (kind == "VALID") return {};
  if (kind != "EXPLICIT") call.unsupported("there is no padding '" + kind + "'.");
  const Sizes given = call.integers("explicit_paddings").value_or(Sizes{});
  const bool fits = given.size() == 2 * axes + 4 &&
                    std::ranges::all_of(given, [](std::int64_t n) { return n >= 0 && n <= Shape::max_size; });
  call.expect(fits, "its 'explicit_paddings' do not fit " + std::to_string(axes) + " axes.");
  return {.pads = Sizes(given.begin() + 2, given.end() - 2)};
}

void put(const Sizes& sizes, auto& array) { std::copy_n(sizes.begin(), array.size(), array.begin()); }

Conv2d conv2d_of(const Call& call) {
  const Margin margin = margin_of(call, 2);
  Conv2d how{.padding = margin.padding};
  put(spatial(call, "strides", 2), how.strides), put(spatial(call, "dilations", 2), how.dilations);
  if (margin.pads) put(*margin.pads, how.pads.emplace());
  return how;
}

Results conv2d_fused(const Call& call) {
  call.expect_rank(0, 4, 4);
  call.expect_rank(1, 4, 4);
  Conv2d how = conv2d_of(call);
  const std::int64_t channels = call.shape(0)[3], seen = call.shape(1)[2];
  if (seen > 0 && seen < channels && channels % seen == 0) how.groups = channels / seen;
  return {call.give(with_fused_operators(call, conv2d(call.tensor(0), call.tensor(1), how), 2))};
}

// The filter [height,width,channels,multiplier] has its results in the order of groups.
Results depthwise_fused(const Call& call) {
  call.expect_rank(0, 4, 4);
  call.expect_rank(1, 4, 4);
  Conv2d how = conv2d_of(call);
  const Shape& shape = call.shape(1);
  how.groups = shape[2];
  call.expect(how.groups == call.shape(0)[3],
              "the filter " + shape.to_string() + " does not fit the image " + call.shape(0).to_string() + ".");
  const Tensor filter = call.tensor(1).reshape({shape[0], shape[1], 1, shape[2] * shape[3]});
  return {call.give(with_fused_operators(call, conv2d(call.tensor(0), filter, how), 2))};
}

Results conv1d_of(const Call& call) {
  expect_channels_last(call);
  const std::string kind = call.text("padding", "VALID");
  return {call.give(conv1d(call.tensor(0), call.tensor(1),
                           {.stride = call.integer("stride", 1),
                            .dilation = call.integer("dilation", 1),
                            .padding = kind == "SAME" ? Padding::same : Padding::valid}))};
}

Results conv3d_of(const Call& call) {
  const Margin margin = margin_of(call, 3);
  Conv3d how{.padding = margin.padding};
  put(spatial(call, "strides", 3), how.strides), put(spatial(call, "dilations", 3), how.dilations);
  if (margin.pads) put(*margin.pads, how.pads.emplace());
  return {call.give(conv3d(call.tensor(0), call.tensor(1), how))};
}

// Inputs: the sizes of the result, the filter [height,width,out,in], the image. Layers leave the sizes to the
// operation.
Results conv2d_back(const Call& call) {
  call.expect_rank(2, 4, 4);
  const Margin margin = margin_of(call, 2);
  Conv2dTranspose how{.padding = margin.padding};
  put(spatial(call, "strides", 2), how.strides), put(spatial(call, "dilations", 2), how.dilations);
  if (margin.pads) put(*margin.pads, how.pads.emplace());
  if (call.has(0)) {
    const Sizes sizes = call.integers_of(0);
    call.expect(sizes.size() == 4 && sizes[1] > 0 && sizes[2] > 0, "its first input is no size of an image.");
    how.size = {sizes[1], sizes[2]};
  }
  return {call.give(conv2d_transpose(call.tensor(2), call.tensor(1), how), call.type(2))};
}

Pooling pool_window_of(const Call& call) {
  call.expect_rank(0, 3, 5);
  const auto axes = static_cast<std::size_t>(call.rank() - 2);
  const Margin margin = margin_of(call, axes);
  return {.size = spatial(call, "ksize", axes),
          .strides = spatial(call, "strides", axes),
          .padding = margin.padding,
          .pads = margin.pads.value_or(Sizes{})};
}

// One window over all of the image is a reduction, which has more threads than windows.
Results average_pooled(const Call& call) {
  const Pooling how = pool_window_of(call);
  bool is_global = how.pads.empty() && how.padding == Padding::valid;
  for (std::size_t i = 0; i < how.size.size(); ++i)
    is_global = is_global && how.size[i] == call.shape(0)[static_cast<int>(i) + 1];
  return {call.give(is_global ? global_average_pool(call.tensor(0)) : average_pool(call.tensor(0), how))};
}

Results max_pooled(const Call& call) { return {call.give(max_pool(call.tensor(0), pool_window_of(call)))}; }

Results max_pooled_with_places(const Call& call) {
  if (call.integer("include_batch_in_index", 0) == 0 && call.shape(0)[0] != 1)
    call.unsupported("places in each image of a batch.");
  const MaxPool pooled = max_pool_with_indices(call.tensor(0), pool_window_of(call));
  return {call.give(pooled.values), call.give(pooled.indices, Type::int32)};
}

}  // namespace

const Operators& conv_operators() {
  static const Operators rows{
      {"Conv1D", 1, conv1d_of},
      {"Conv2D", 1, conv2d_fused},
      {"_FusedConv2D", 1, conv2d_fused},
      {"FusedConv2D", 1, conv2d_fused},
      {"DepthwiseConv2d", 1, depthwise_fused},
      {"DepthwiseConv2dNative", 1, depthwise_fused},
      {"FusedDepthwiseConv2dNative", 1, depthwise_fused},
      {"_FusedDepthwiseConv2dNative", 1, depthwise_fused},
      {"Conv2DBackpropInput", 1, conv2d_back},
      {"Conv3D", 1, conv3d_of},
      {"AvgPool", 1, average_pooled},
      {"AvgPool3D", 1, average_pooled},
      {"MaxPool", 1, max_pooled},
      {"MaxPool3D", 1, max_pooled},
      {"MaxPoolWithArgmax", 1, max_pooled_with_places},
  };
  return rows;
}

}  // namespace tessera::tfjs
