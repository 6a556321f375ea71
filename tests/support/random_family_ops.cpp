// Reductions, products, convolutions, pooling, normalisations, scans, sorting, quantisation and random numbers, for
// random graphs.
#include <algorithm>
#include <cmath>

#include "support/hub.h"
#include "support/random_graph.h"

namespace tessera::test {
namespace {

// ---- reductions ---------------------------------------------------------------------------------------------
struct Reduced {
  Value x;
  Reduce options;
  std::int64_t count = 1;  // of elements for each result
};

Reduced reduced(RandomGraph& graph, Types types) {
  Reduced all{.x = graph.any(types), .options = {.keep_dims = graph.chance(50)}};
  for (int axis = 0; axis < all.x.rank(); ++axis)
    if (graph.chance(50)) {
      all.options.axes.push_back(graph.chance(50) ? axis : axis - all.x.rank());
      all.count *= all.x.shape()[axis];
    }
  if (all.options.axes.empty()) all.count = all.x.size();
  return all;
}

using Reduction = Tensor (*)(const Tensor&, const Reduce&);

// Over no elements there are numbers that nothing should go on with.
void give_reduced(RandomGraph& graph, const Tensor& result, std::int64_t count, const Range& range, double tolerance) {
  if (count == 0) graph.give_last(result);
  else graph.give(result, range, tolerance);
}

RandomOp summing(const char* name, Reduction function, Types types, bool is_mean = false) {
  return {name, [=](RandomGraph& graph) {
            const auto [x, options, count] = reduced(graph, types);
            const Range range = is_mean ? Range{x.range.bound, x.range.error} : sum_over(x.range, count);
            give_reduced(graph, function(x.tensor, options), count, range, 1e-5);
          }};
}

RandomOp choosing(const char* name, Reduction function, Types types) {
  return {name, [=](RandomGraph& graph) {
            const auto [x, options, count] = reduced(graph, types);
            if (count == 0) graph.give_last(function(x.tensor, options));
            else graph.give_moved(function(x.tensor, options), x.range);
          }};
}

RandomOp finding(const char* name, Tensor (*function)(const Tensor&, int, bool)) {
  return {name, [=](RandomGraph& graph) {
            const Value x = graph.exact(number_types, 1);
            const int axis = graph.axis_of(x);
            if (x.shape()[axis] > 0) graph.give_exact(function(x.tensor, axis, graph.chance(50)));
          }};
}

// Factors near 1, of which many can be multiplied.
Tensor near_one(const Tensor& x) { return tanh(x) * 0.125f + 1.0f; }

void add_product(RandomGraph& graph) {
  const DType dtype = graph.type_of(number_types);
  const int rows = graph.pick(1, 5), columns = graph.pick(1, 9), axis = graph.pick(0, 1);
  const Value x = graph.filled({rows, columns}, dtype);
  const Reduce options{.axes = {axis}};
  if (!is_float(dtype)) return graph.give_exact(prod(x.tensor, options));
  graph.give(prod(near_one(x.tensor), options), {2.9, 4 * x.range.error + (dtype == DType::f16 ? 0.03 : 1e-4)});
}

void add_running_product(RandomGraph& graph) {
  const DType dtype = graph.type_of(number_types);
  const Value x = graph.filled({graph.pick(1, 5), graph.pick(1, 9)}, dtype);
  const Scan options{.exclusive = graph.chance(50), .reverse = graph.chance(50)};
  const int axis = graph.pick(0, 1);
  if (!is_float(dtype)) return graph.give_exact(cumprod(x.tensor, axis, options));
  graph.give(cumprod(near_one(x.tensor), axis, options),
             {2.9, 4 * x.range.error + (dtype == DType::f16 ? 0.03 : 1e-4)});
}

void add_running_sum(RandomGraph& graph) {
  const Value x = graph.any(number_types, 1);
  const int axis = graph.axis_of(x);
  const Scan options{.exclusive = graph.chance(50), .reverse = graph.chance(50)};
  graph.give(cumsum(x.tensor, axis, options), sum_over(x.range, x.shape()[axis]));
}

// ---- products -----------------------------------------------------------------------------------------------
// A pair of types that products take, of floats the same.
std::pair<DType, DType> types_to_multiply(RandomGraph& graph) {
  if (graph.chance(20)) return {graph.type_of(small_integer_types), graph.type_of(small_integer_types)};
  const DType both = graph.one_of({DType::f32, DType::f32, DType::f16, DType::i32});
  return {both, both};
}

void add_product_of_matrices(RandomGraph& graph) {
  const auto [type_a, type_b] = types_to_multiply(graph);
  const std::int64_t m = graph.pick(1, 9), n = graph.pick(1, 9), k = graph.chance(3) ? 0 : graph.pick(1, 12);
  const MatMul options{.transpose_a = graph.chance(30), .transpose_b = graph.chance(30)};
  std::vector<std::int64_t> a{m, k}, b{k, n};
  if (options.transpose_a) std::swap(a[0], a[1]);
  if (options.transpose_b) std::swap(b[0], b[1]);
  switch (graph.pick(0, 5)) {
    case 0: a = {k}; break;
    case 1: b = {k}; break;
    case 2: a.insert(a.begin(), {3, 1}), b.insert(b.begin(), 2); break;
    case 3: a.insert(a.begin(), 2); break;
    default: break;
  }
  const Value x = graph.filled(Shape(a), type_a), y = graph.filled(Shape(b), type_b);
  graph.give(matmul(x.tensor, y.tensor, options), sum_over(product_of(x.range, y.range), k));
}

// A mean lies between the values, whatever the scores. They are at most 1, so that errors stay small.
void add_attention(RandomGraph& graph) {
  const DType dtype = graph.one_of({DType::f32, DType::f32, DType::f16});
  const std::int64_t shared = graph.pick(1, 2), heads = shared * graph.pick(1, 2), depth = graph.pick(1, 9),
                     queries = graph.pick(1, 9), keys = graph.pick(1, 12);
  const Value q = graph.filled({heads, queries, depth}, dtype), k = graph.filled({shared, keys, depth}, dtype),
              v = graph.filled({shared, keys, graph.pick(1, 9)}, dtype);
  const Range scores = sum_over(product_of(q.range, k.range), depth);
  const double scale = 1 / std::max(scores.bound, 1.0);
  const Tensor mean =
      attention(q.tensor, k.tensor, v.tensor, {.scale = static_cast<float>(scale), .causal = graph.chance(30)});
  graph.give(mean, {v.range.bound, v.range.error + v.range.bound * (4 * scores.error * scale + 1e-4)});
}

void add_transform(RandomGraph& graph, Tensor (*function)(const Tensor&, int, std::optional<std::int64_t>)) {
  const DType dtype = graph.one_of({DType::f32, DType::f32, DType::f16});
  const std::int64_t count = graph.pick(1, 12), length = graph.pick(1, 12);
  const bool is_of_reals = function == rfft;
  const Value x = graph.filled(is_of_reals ? Shape{2, count, 3} : Shape{2, count, 3, 2}, dtype);
  const Range sum = sum_over(x.range, 2 * length);
  graph.give(function(x.tensor, 1, length), {sum.bound, 2 * sum.error + 1e-5 * sum.bound});
}

void add_einsum(RandomGraph& graph) {
  const auto [type_a, type_b] = types_to_multiply(graph);
  const std::int64_t i = graph.pick(1, 5), j = graph.pick(1, 6), k = graph.pick(1, 7);
  const struct {
    const char* equation;
    Shape a, b;
    std::int64_t summed;
  } cases[] = {
      {"ij,jk->ik", {i, j}, {j, k}, j}, {"bij,bkj->bik", {2, i, j}, {2, k, j}, j}, {"ij,ij->", {i, j}, {i, j}, i * j},
      {"i,j->ij", {i}, {j}, 1},         {"...ij,jk->...ik", {2, i, j}, {j, k}, j}, {"ij,jk", {i, j}, {j, k}, j},
  };
  const auto& chosen = cases[graph.pick(0, static_cast<int>(std::size(cases)) - 1)];
  const Value a = graph.filled(chosen.a, type_a), b = graph.filled(chosen.b, type_b);
  if (graph.chance(75))
    return graph.give(einsum(chosen.equation, {a.tensor, b.tensor}),
                      sum_over(product_of(a.range, b.range), chosen.summed));
  const Value square = graph.filled({i, i, k}, number_types);  // a diagonal, and a sum over an axis
  graph.give(einsum("iik->ki", {square.tensor}), square.range);
  graph.give(einsum("ijk->ik", {square.tensor}), sum_over(square.range, i));
}

// ---- windows ------------------------------------------------------------------------------------------------
// Along one axis: the image is large enough for the window.
struct Window {
  int image, size, stride, dilation;
  int reach() const { return (size - 1) * dilation + 1; }
};
Window window(RandomGraph& graph, int largest) {
  Window axis{0, graph.pick(1, 3), graph.pick(1, 2), graph.chance(20) ? 2 : 1};
  axis.image = axis.reach() + graph.pick(0, std::max(0, largest - axis.reach()));
  return axis;
}

template <std::size_t axes>
struct Windows {
  std::array<Window, axes> all;
  std::array<std::int64_t, axes> strides{}, dilations{};
  std::array<std::int64_t, 2 * axes> pads{};
  bool has_pads = false;
  Padding padding = Padding::valid;
  std::int64_t taps = 1;

  explicit Windows(RandomGraph& graph) {
    for (std::size_t i = 0; i < axes; ++i) {
      all[i] = window(graph, axes == 3 ? 4 : 8);
      strides[i] = all[i].stride;
      dilations[i] = all[i].dilation;
      taps *= all[i].size;
    }
    has_pads = graph.chance(30);
    if (!has_pads) padding = graph.one_of({Padding::valid, Padding::same});
    for (std::size_t i = 0; i < 2 * axes && has_pads; ++i) pads[i] = graph.pick(0, all[i / 2].size - 1);
  }
  Shape image(std::int64_t batch, std::int64_t channels) const { return shape_of(batch, channels, &Window::image); }
  Shape filter(std::int64_t in, std::int64_t out) const {
    std::vector<std::int64_t> dims;
    for (const Window& axis : all) dims.push_back(axis.size);
    dims.insert(dims.end(), {in, out});
    return Shape(dims);
  }
  std::vector<std::int64_t> sizes() const {
    std::vector<std::int64_t> values;
    for (const Window& axis : all) values.push_back(axis.size);
    return values;
  }

 private:
  Shape shape_of(std::int64_t first, std::int64_t last, int Window::*member) const {
    std::vector<std::int64_t> dims{first};
    for (const Window& axis : all) dims.push_back(axis.*member);
    dims.push_back(last);
    return Shape(dims);
  }
};

template <std::size_t axes, class Convolve>
void add_convolution(RandomGraph& graph, const Convolve& convolve) {
  auto [type_image, type_filter] = types_to_multiply(graph);
  const Windows<axes> windows(graph);
  const int groups = graph.one_of({1, 1, 2, 3}), in = graph.pick(1, 3), out = graph.pick(1, 5);
  const Value image = graph.filled(windows.image(graph.pick(1, 2), in * groups), type_image),
              filter = graph.filled(windows.filter(in, out * groups), type_filter);
  graph.give(convolve(image.tensor, filter.tensor, windows, groups),
             sum_over(product_of(image.range, filter.range), windows.taps * in));
}

template <class Options, std::size_t axes>
Options conv_options(const Windows<axes>& windows, int groups) {
  Options options;
  if constexpr (axes == 1) {
    options.stride = windows.strides[0];
    options.dilation = windows.dilations[0];
  } else {
    options.strides = windows.strides;
    options.dilations = windows.dilations;
  }
  options.padding = windows.padding;
  if (windows.has_pads) options.pads = windows.pads;
  options.groups = groups;
  return options;
}

void add_transposed_convolution(RandomGraph& graph) {
  const DType dtype = graph.type_of(float_types);
  Windows<2> windows(graph);
  const int groups = graph.pick(1, 2), in = graph.pick(1, 3) * groups, out = graph.pick(1, 3);
  const Value image = graph.filled({graph.pick(1, 2), graph.pick(1, 4), graph.pick(1, 4), in}, dtype),
              filter = graph.filled(windows.filter(out, in), dtype);
  auto options = conv_options<Conv2dTranspose>(windows, groups);
  options.pads.reset();
  graph.give(conv2d_transpose(image.tensor, filter.tensor, options),
             sum_over(product_of(image.range, filter.range), windows.taps * in));
}

template <std::size_t axes>
Pooling pooling_of(RandomGraph& graph) {
  const Windows<axes> windows(graph);
  Pooling options{.size = windows.sizes(), .padding = windows.padding};
  if (graph.chance(60)) options.strides.assign(windows.strides.begin(), windows.strides.end());
  if (windows.has_pads) options.pads.assign(windows.pads.begin(), windows.pads.end());
  return options;
}

Pooling pooling(RandomGraph& graph) {
  switch (graph.pick(1, 3)) {
    case 1: return pooling_of<1>(graph);
    case 2: return pooling_of<2>(graph);
    default: return pooling_of<3>(graph);
  }
}

Value image_for(RandomGraph& graph, const Pooling& options, Types types, bool exactly = false) {
  std::vector<std::int64_t> dims{graph.pick(1, 2)};
  for (const std::int64_t size : options.size) dims.push_back(size + graph.pick(0, 4));
  dims.push_back(graph.pick(1, 5));
  return exactly ? graph.filled_exactly(Shape(dims), types) : graph.filled(Shape(dims), types);
}

// ---- rows ---------------------------------------------------------------------------------------------------
RandomOp along_axis(const char* name, Tensor (*function)(const Tensor&, int), double slope, double bound_by_x) {
  return {name, [=](RandomGraph& graph) {
            const Value x = graph.any(float_types, 1);
            graph.give(function(x.tensor, graph.axis_of(x)),
                       function_of(x.range, slope, bound_by_x * x.range.bound + (bound_by_x > 0 ? 9 : 1)), 2e-5);
          }};
}

constexpr float large_epsilon = 0.5f;  // rows that are all but equal have no large slopes, then

// The normalised row is at most the root of its length; gamma and beta are of the type and shape that is given.
template <class Options>
Range with_gain(RandomGraph& graph, const Value& x, const Shape& shape, double length, Options& options) {
  Range range = function_of(x.range, 4, std::sqrt(std::max(length, 1.0)));
  if (x.dtype() == DType::f16) range.error += 4e-3 * range.bound;
  if (graph.chance(60)) {
    const Value gamma = graph.filled(shape, x.dtype());
    options.gamma = gamma.tensor;
    range = product_of(range, gamma.range);
  }
  if (graph.chance(60)) {
    const Value beta = graph.filled(shape, x.dtype());
    options.beta = beta.tensor;
    range = sum_of(range, beta.range);
  }
  return range;
}

RandomOp normalising_rows(const char* name, Tensor (*function)(const Tensor&, const RowNorm&)) {
  return {name, [=](RandomGraph& graph) {
            const Value x = graph.any(float_types, 1);
            RowNorm options{.begin_axis = graph.axis_of(x), .epsilon = large_epsilon};
            const auto dims = x.shape().dims().subspan(static_cast<std::size_t>(options.begin_axis));
            const Shape row(dims);
            const Range range = with_gain(graph, x, row, static_cast<double>(row.size()), options);
            graph.give(function(x.tensor, options), range, 5e-5);
          }};
}

Value picture(RandomGraph& graph, int channels) {
  const DType dtype = graph.type_of(float_types);
  return graph.filled({graph.pick(1, 2), graph.pick(1, 5), graph.pick(1, 5), channels}, dtype);
}

void add_batch_norm(RandomGraph& graph) {
  const Value x = graph.any(float_types, 1);
  const Shape channels{x.shape()[-1]};
  const Value mean = graph.filled(channels, x.dtype()), variance = graph.filled(channels, x.dtype());
  ChannelNorm options{.epsilon = large_epsilon};
  if (graph.chance(50)) options.beta = mean.tensor;
  const double slope = 2 * (1 + x.range.bound + mean.range.bound);
  graph.give(batch_norm(x.tensor, mean.tensor, abs(variance.tensor), options),
             {2 * (x.range.bound + mean.range.bound) + mean.range.bound,
              2 * (x.range.error + mean.range.error) + slope * variance.range.error + mean.range.error +
                  (x.dtype() == DType::f16 ? 4e-3 * slope : 0)});
}

void add_channel_norm(RandomGraph& graph, bool is_in_groups) {
  const int groups = is_in_groups ? graph.pick(1, 3) : 1;
  const int channels = groups * graph.pick(1, 3);
  const Value x = picture(graph, channels);
  ChannelNorm options{.epsilon = large_epsilon};
  const Range range = with_gain(graph, x, {channels}, 75, options);
  graph.give(is_in_groups ? group_norm(x.tensor, groups, options) : instance_norm(x.tensor, options), range, 5e-5);
}

// ---- quantisation -------------------------------------------------------------------------------------------
std::optional<int> some_axis(RandomGraph& graph, const Value& x) {
  return x.rank() > 0 && graph.chance(50) ? std::optional(graph.axis_of(x)) : std::nullopt;
}
Shape scale_shape(const Value& x, const std::optional<int>& axis) { return axis ? Shape{x.shape()[*axis]} : Shape{}; }

// Powers of two, so that dividing by them is exact.
Tensor scales(RandomGraph& graph, const Value& x, const std::optional<int>& axis, DType dtype) {
  const Value whole = graph.filled_exactly(scale_shape(x, axis), small_integer_types);
  return where(whole.tensor > 3.0f, graph.context().full({}, 0.25f, dtype), 0.5f);
}

// Weights are at most 8 apart from their zero point.
void add_product_of_4bits(RandomGraph& graph) {
  const std::int64_t columns = graph.pick(1, 9), groups = graph.pick(1, 3), count = 16 * groups;
  const Value a = graph.filled({graph.pick(1, 6), count}, graph.one_of({DType::f32, DType::f16}));
  const Value values = graph.filled({columns, count / 2}, DType::u8),
              scales = graph.filled({columns, groups}, DType::f32);
  const Range weight = scales.range.scaled(8), sum = sum_over(product_of(a.range, weight), count);
  graph.give(matmul_4bit(a.tensor, {values.tensor, scales.tensor}), {sum.bound, sum.error + 1e-5 * sum.bound});
}

void add_quantize(RandomGraph& graph) {
  const Value x = graph.exact(float_types);
  const auto [values, scale] = quantize(x.tensor, some_axis(graph, x));
  graph.give_rounded(values);  // halves, once divided by a scale that is none of few bits
  graph.give(scale, {x.range.bound / 127 + 1, 0}, 1e-6);
}

void add_dequantize(RandomGraph& graph, bool is_linear) {
  const Value x = graph.exact(small_integer_types);
  const std::optional<int> axis = some_axis(graph, x);
  const Tensor scale = scales(graph, x, axis, graph.type_of(float_types));
  if (!is_linear) return graph.give(dequantize(x.tensor, scale, axis), {128, 0, 2});
  const Value zero_point = graph.filled_exactly(scale_shape(x, axis), x.dtype());
  graph.give(graph.chance(50) ? dequantize_linear(x.tensor, scale, zero_point.tensor, axis.value_or(0))
                              : dequantize_linear(x.tensor, scale, axis.value_or(0)),
             {256, 0, 2});
}

void add_linear_quantisation(RandomGraph& graph) {
  const DType dtype = graph.one_of({DType::f32, DType::f16, DType::i32});
  const Value x = graph.exact(dtype);
  const std::optional<int> axis = some_axis(graph, x);
  const Tensor scale = scales(graph, x, axis, is_float(dtype) ? dtype : DType::f32);
  const Value zero_point = graph.filled_exactly(scale_shape(x, axis), small_integer_types);
  graph.give_exact(graph.chance(50) ? quantize_linear(x.tensor, scale, zero_point.tensor, axis.value_or(0))
                                    : quantize_linear(x.tensor, scale, DType::i8, axis.value_or(0)));
}

void add_dynamic_quantisation(RandomGraph& graph) {
  const Value x = graph.exact(float_types);
  const auto [values, scale, zero_point] = dynamic_quantize_linear(x.tensor);
  graph.give_rounded(values);
  graph.give_rounded(zero_point);
  graph.give(scale, {2 * x.range.bound, 0}, 1e-6);
}

// ---- kernels of one's own -----------------------------------------------------------------------------------
// similarity [1] and scaled [n], of which the graph goes on with one or both.
void add_kernel_of_its_own(RandomGraph& graph) {
  const auto n = static_cast<std::int64_t>(graph.pick(1, 9));
  const Value a = graph.filled_exactly({n}, f32_only), b = graph.filled_exactly({n}, f32_only);
  const Tensor x = abs(a.tensor) + 0.5f, y = abs(b.tensor) + 0.5f;
  const bool wants_both = graph.chance(50);
  if (graph.context().backend() == BackendKind::cpu) {  // which runs no shaders
    if (wants_both) graph.give(sum(x * y) / sqrt(sum(x * x) * sum(y * y)) + graph.context().zeros({1}), {1, 0});
    return graph.give(x * 2.0f, {2 * a.range.bound + 1, 0});
  }
  const auto outputs = run_custom(graph.context(), cosine(),
                                  {.inputs = {{"a", x}, {"b", y}},
                                   .outputs = {{"similarity", {{1}}}, {"scaled", {{n}}}},
                                   .parameters = {{"scale", 2}},
                                   .workgroup_count = {static_cast<std::uint32_t>(n), 1, 1}});
  if (wants_both) graph.give(outputs.at("similarity"), {1, 0});
  graph.give(outputs.at("scaled"), {2 * a.range.bound + 1, 0});
}

}  // namespace

std::vector<RandomOp> random_family_ops() {
  return {
      summing("sum", sum, number_types),
      summing("mean", mean, float_types, true),
      {"prod", add_product},
      choosing("max", max, number_types),
      choosing("min", min, number_types),
      choosing("any", any, boolean_only),
      choosing("all", all, boolean_only),
      summing("l1_norm", l1_norm, float_types),
      {"l2_norm",  // a root of few bits has many
       [](RandomGraph& graph) {
         const auto [x, options, count] = reduced(graph, float_types);
         const Range sum = sum_over(x.range, count);
         give_reduced(graph, l2_norm(x.tensor, options), count, {sum.bound, sum.error}, 1e-5);
       }},
      {"logsumexp",
       [](RandomGraph& graph) {
         const auto [x, options, count] = reduced(graph, float_types);
         give_reduced(graph, logsumexp(x.tensor, options), count, function_of(x.range, 1, x.range.bound + 9), 2e-5);
       }},
      finding("argmax", argmax),
      finding("argmin", argmin),
      {"matmul", add_product_of_matrices},
      {"einsum", add_einsum},
      {"attention", add_attention},
      {"fft", [](RandomGraph& graph) { add_transform(graph, fft); }},
      {"ifft", [](RandomGraph& graph) { add_transform(graph, ifft); }},
      {"rfft", [](RandomGraph& graph) { add_transform(graph, rfft); }},
      {"irfft", [](RandomGraph& graph) { add_transform(graph, irfft); }},
      {"conv1d",
       [](RandomGraph& graph) {
         add_convolution<1>(graph, [](const Tensor& image, const Tensor& filter, const auto& windows, int groups) {
           return conv1d(image, filter, conv_options<Conv1d>(windows, groups));
         });
       }},
      {"conv2d",
       [](RandomGraph& graph) {
         add_convolution<2>(graph, [](const Tensor& image, const Tensor& filter, const auto& windows, int groups) {
           return conv2d(image, filter, conv_options<Conv2d>(windows, groups));
         });
       }},
      {"conv3d",
       [](RandomGraph& graph) {
         add_convolution<3>(graph, [](const Tensor& image, const Tensor& filter, const auto& windows, int groups) {
           return conv3d(image, filter, conv_options<Conv3d>(windows, groups));
         });
       }},
      {"conv2d_transpose", add_transposed_convolution},
      {"max_pool",
       [](RandomGraph& graph) {
         const Pooling options = pooling(graph);
         const Value image = image_for(graph, options, number_types);
         graph.give_moved(max_pool(image.tensor, options), image.range);
       }},
      {"average_pool",
       [](RandomGraph& graph) {
         Pooling options = pooling(graph);
         options.counts_padding = graph.chance(50);
         const Value image = image_for(graph, options, float_types);
         graph.give(average_pool(image.tensor, options), {image.range.bound, image.range.error});
       }},
      {"max_pool_with_indices",
       [](RandomGraph& graph) {
         const Pooling options = pooling(graph);
         const Value image = image_for(graph, options, number_types, true);
         const auto [values, indices] = max_pool_with_indices(image.tensor, options);
         graph.give_moved(values, image.range);
         graph.give_exact(indices);
       }},
      {"global_max_pool",
       [](RandomGraph& graph) {
         const Value image = picture(graph, graph.pick(1, 5));
         graph.give_moved(global_max_pool(image.tensor), image.range);
       }},
      {"global_average_pool",
       [](RandomGraph& graph) {
         const Value image = picture(graph, graph.pick(1, 5));
         graph.give(global_average_pool(image.tensor), {image.range.bound, image.range.error});
       }},
      along_axis("softmax", softmax, 2, 0),
      along_axis("log_softmax", log_softmax, 2, 2),
      normalising_rows("layer_norm", layer_norm),
      normalising_rows("rms_norm", rms_norm),
      {"batch_norm", add_batch_norm},
      {"instance_norm", [](RandomGraph& graph) { add_channel_norm(graph, false); }},
      {"group_norm", [](RandomGraph& graph) { add_channel_norm(graph, true); }},
      along_axis(
          "l2_normalize", [](const Tensor& x, int axis) { return l2_normalize(abs(x) + 0.5f, axis); }, 4, 0),
      {"lrn",
       [](RandomGraph& graph) {
         const Value x = graph.any(float_types, 1);
         graph.give(lrn(x.tensor, {.depth_radius = graph.pick(0, 3), .alpha = 0.1f}),
                    function_of(x.range, 4, x.range.bound), 2e-5);
       }},
      {"cumsum", add_running_sum},
      {"cumprod", add_running_product},
      {"sort",
       [](RandomGraph& graph) {
         const Value x = graph.any(number_types, 1);
         graph.give_moved(sort(x.tensor, graph.axis_of(x), graph.chance(50)), x.range);
       }},
      {"argsort",
       [](RandomGraph& graph) {
         const Value x = graph.exact(number_types, 1);
         graph.give_exact(argsort(x.tensor, graph.axis_of(x), graph.chance(50)));
       }},
      {"top_k",
       [](RandomGraph& graph) {
         const Value x = graph.exact(number_types, 1);
         const int axis = graph.axis_of(x);
         if (x.shape()[axis] == 0) return;
         const int k = graph.pick(1, static_cast<int>(x.shape()[axis]));
         const auto [values, indices] = top_k(x.tensor, k, axis, graph.chance(50));
         graph.give_moved(values, x.range);
         graph.give_exact(indices);
       }},
      {"matmul_4bit", add_product_of_4bits},
      {"quantize", add_quantize},
      {"dequantize", [](RandomGraph& graph) { add_dequantize(graph, false); }},
      {"quantize_linear", add_linear_quantisation},
      {"dequantize_linear", [](RandomGraph& graph) { add_dequantize(graph, true); }},
      {"dynamic_quantize_linear", add_dynamic_quantisation},
      {"fake_quantize",
       [](RandomGraph& graph) {
         const Value x = graph.exact(float_types);
         const int bits = graph.pick(4, 8);
         const double level = 12 / (std::exp2(bits) - 1);
         graph.give_last(fake_quantize(x.tensor, {.bits = bits, .narrow_range = graph.chance(50)}), 1.2 * level);
       }},
      {"uniform",
       [](RandomGraph& graph) {
         const Shape shape = graph.shape(0, 4);
         graph.give_moved(uniform(graph.context(), shape, 7, -1, 1), {1});
       }},
      {"normal",
       [](RandomGraph& graph) {
         const Shape shape = graph.shape(0, 4);
         graph.give(normal(graph.context(), shape, 7), {6});
       }},
      {"uniform_integers",
       [](RandomGraph& graph) {
         const Shape shape = graph.shape(0, 4);
         graph.give_exact(uniform_integers(graph.context(), shape, 7, -100, 100));
       }},
      {"run_custom", add_kernel_of_its_own},
  };
}

}  // namespace tessera::test
