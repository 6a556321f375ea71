// Pools, and the way back from the places of maxima.
#include <algorithm>
#include <cmath>

#include "models/window.h"

namespace tessera::onnx {

namespace {

Sizes kernel_shape(const Call& call) {
  call.expect_rank(0, 3, 5);
  const std::optional<Sizes> size = call.integers("kernel_shape");
  call.expect(size.has_value(), "it lacks its attribute 'kernel_shape'.");
  return *size;
}

Pooling pooling_of(const Call& call) {
  const Window window = window_of(call, call.shape(0), kernel_shape(call), call.integer("ceil_mode", 0) != 0);
  return {.size = window.size,
          .strides = window.strides,
          .dilations = window.dilations,
          .pads = window.flat_pads(),
          .counts_padding = call.integer("count_include_pad", 0) != 0};
}

// Indices into an image with channels last, as ONNX counts them: channels first, rows or columns first.
Tensor indices_channels_first(const Tensor& indices, const Shape& image, bool columns_first) {
  const double channels = static_cast<double>(image[1]);
  const Tensor channel = trunc_mod(indices, channels);
  Tensor rest = indices / channels;
  std::vector<Tensor> places(static_cast<std::size_t>(image.rank()));
  for (int axis = image.rank(); axis-- > 2;) {
    const double size = static_cast<double>(image[axis]);
    places[static_cast<std::size_t>(axis)] = trunc_mod(rest, size);
    rest = rest / size;
  }
  Tensor flat = rest * channels + channel;
  for (int i = 2; i < image.rank(); ++i) {
    const int axis = columns_first ? image.rank() + 1 - i : i;
    flat = flat * static_cast<double>(image[axis]) + places[static_cast<std::size_t>(axis)];
  }
  return flat;
}

Results max_pool_of(const Call& call) {
  const Tensor image = call.tensor(0, Order::channels_last);
  const Pooling how = pooling_of(call);
  if (call.outputs() < 2) return {call.give(max_pool(image, how), Order::channels_last)};
  const MaxPool pooled = max_pool_with_indices(image, how);
  const Tensor indices = indices_channels_first(pooled.indices, call.shape(0), call.integer("storage_order", 0) != 0);
  return {call.give(pooled.values, Order::channels_last), call.give(indices, Type::int64, Order::channels_last)};
}

Results average_pool_of(const Call& call) {
  if (call.integer("ceil_mode", 0) != 0 && call.integer("count_include_pad", 0) != 0) {
    // Padding counts, but not that which makes the last window whole.
    const Window given = window_of(call, call.shape(0), kernel_shape(call));
    Pooling how = pooling_of(call);
    how.counts_padding = false;
    std::vector<PadWidth> widths{{}};
    widths.insert(widths.end(), given.pads.begin(), given.pads.end());
    widths.push_back({});
    const Sizes counted = given.flat_pads();
    for (std::size_t i = 0; i < how.pads.size(); ++i) how.pads[i] -= counted[i];
    return {call.give(average_pool(pad(call.tensor(0, Order::channels_last), widths), how), Order::channels_last)};
  }
  return {call.give(average_pool(call.tensor(0, Order::channels_last), pooling_of(call)), Order::channels_last)};
}

Tensor power_of_magnitude(const Tensor& x, double p) { return p == 1 ? abs(x) : p == 2 ? square(x) : pow(abs(x), p); }
Tensor root(const Tensor& x, double p) { return p == 1 ? x : p == 2 ? sqrt(x) : pow(x, 1 / p); }

double exponent_of(const Call& call) {
  const AttributeProto* p = call.attribute("p");  // a float before opset 2
  const double exponent = !p ? 2 : p->integer != 0 ? static_cast<double>(p->integer) : static_cast<double>(p->number);
  call.expect(exponent > 0, "its p is " + std::to_string(exponent) + ".");
  return exponent;
}

Results lp_pool(const Call& call) {
  Pooling how = pooling_of(call);
  how.counts_padding = true;
  double count = 1;
  for (const std::int64_t size : how.size) count *= static_cast<double>(size);
  const double p = exponent_of(call);
  const Tensor powers = power_of_magnitude(call.tensor(0, Order::channels_last), p);
  return {call.give(root(average_pool(powers, how) * count, p), Order::channels_last)};
}

// Over all spatial axes, in whichever order they are.
template <class Function>
auto global(const Function& function) {
  return [function](const Call& call) -> Results {
    call.expect_rank(0, 3);
    const Order order = call.value(0).order();
    Reduce over{.keep_dims = true};
    for (int axis = 2; axis < call.rank(); ++axis) over.axes.push_back(order == Order::plain ? axis : axis - 1);
    return {call.give(function(call, call.tensor(0, order), over), order)};
  };
}

Results max_unpool(const Call& call) {
  const Sizes size = kernel_shape(call);
  const Shape& shape = call.shape(0);
  call.expect(static_cast<std::size_t>(shape.rank()) == size.size() + 2,
              "its window does not fit " + shape.to_string() + ".");
  const Sizes strides = spatial_attribute(call, "strides", size.size(), 1, 1),
              pads = spatial_attribute(call, "pads", 2 * size.size(), 0, 0);
  Sizes sizes{shape[0], shape[1]};
  for (std::size_t i = 0; i < size.size(); ++i)
    sizes.push_back((shape[static_cast<int>(i) + 2] - 1) * strides[i] + size[i] - pads[i] - pads[i + size.size()]);
  for (const std::int64_t extent : sizes)
    call.expect(extent >= 0 && extent <= Shape::max_size,
                "its result would have a size of " + std::to_string(extent) + ".");
  const Shape whole(sizes);
  const Tensor x = call.tensor(0), zeros = call.context().zeros({whole.size()}, x.dtype());
  Tensor result = scatter_update(zeros, call.tensor(1).reshape({x.shape().size(), 1}), flatten(x)).reshape(whole);
  if (call.has(2)) {  // indices are those of the smaller image
    const Sizes wanted = call.integers_of(2);
    call.expect(wanted.size() == sizes.size(), "its output shape does not fit " + shape.to_string() + ".");
    std::vector<PadWidth> widths;
    for (std::size_t i = 0; i < wanted.size(); ++i) widths.push_back({0, wanted[i] - sizes[i]});
    result = pad(result, widths);
  }
  return {call.give(result)};
}

Results lp_normalization(const Call& call) {
  const int axis = call.axis(call.integer("axis", -1), call.rank());
  const Tensor x = call.tensor(0);
  const Reduce over{.axes = {axis}, .keep_dims = true};
  return {call.give(x / (call.integer("p", 2) == 1 ? l1_norm(x, over) : l2_norm(x, over)))};
}

}  // namespace

const Operators& pool_operators() {
  static const Operators rows{
      {"MaxPool", 1, max_pool_of},
      {"AveragePool", 1, average_pool_of},
      {"LpPool", 1, lp_pool},
      {"GlobalMaxPool", 1, global([](const Call&, const Tensor& x, const Reduce& over) { return max(x, over); })},
      {"GlobalAveragePool", 1, global([](const Call&, const Tensor& x, const Reduce& over) { return mean(x, over); })},
      {"GlobalLpPool", 1, global([](const Call& call, const Tensor& x, const Reduce& over) {
         const double p = exponent_of(call);
         return root(sum(power_of_magnitude(x, p), over), p);
       })},
      {"LpNormalization", 1, lp_normalization},
      {"MaxUnpool", 1, max_unpool},
  };
  return rows;
}

}  // namespace tessera::onnx
