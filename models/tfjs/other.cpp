// Reductions, products, norms, images and boxes.
#include <algorithm>
#include <limits>

#include "models/boxes.h"
#include "models/capacity.h"
#include "models/tfjs/operators.h"

namespace tessera::tfjs {

namespace {

template <class Function>
auto reduced(const Function& function) {
  return [function](const Call& call) -> Results {
    Reduce over{.keep_dims = call.integer("keep_dims", 0) != 0};
    for (const std::int64_t axis : call.integers_of(1)) over.axes.push_back(call.axis(axis, call.rank()));
    std::ranges::sort(over.axes);
    over.axes.erase(std::unique(over.axes.begin(), over.axes.end()), over.axes.end());
    if (over.axes.empty()) return {call.value(0)};
    return {call.give(function(call.tensor(0), over))};
  };
}

Tensor mean_of(const Tensor& x, const Reduce& over) {
  return is_float(x.dtype()) ? mean(x, over) : mean(x.cast(DType::f32), over).cast(x.dtype());
}

template <class Function>
auto place_along_axis(const Function& function) {
  return [function](const Call& call) -> Results {
    const int axis = call.has(1) ? call.axis(call.integer_of(1), call.rank()) : 0;
    return {call.give(function(call.tensor(0), axis), Type::int32)};
  };
}

template <class Function>
auto running(const Function& function) {
  return [function](const Call& call) -> Results {
    const int axis = call.axis(call.integer_of(1), call.rank());
    return {call.give(
        function(call.tensor(0), axis,
                 Scan{.exclusive = call.integer("exclusive", 0) != 0, .reverse = call.integer("reverse", 0) != 0}))};
  };
}

Results largest(const Call& call) {
  call.expect_rank(0, 1);
  const std::int64_t k = call.integer_of(1), size = call.shape(0)[-1];
  call.expect(k >= 0 && k <= size,
              "k is " + std::to_string(k) + ", but the axis has " + std::to_string(size) + " elements.");
  const TopK top = top_k(call.tensor(0), k);
  return {call.give(top.values), call.give(top.indices, Type::int32)};
}

Results product(const Call& call) {
  const auto is_set = [&](const char* name, const char* other) {
    return call.integer(name, call.integer(other, 0)) != 0;
  };
  const Tensor result =
      matmul(call.tensor(0), call.tensor(1),
             {.transpose_a = is_set("transpose_a", "adj_x"), .transpose_b = is_set("transpose_b", "adj_y")});
  return {call.give(with_fused_operators(call, result, 2))};
}

Results normalised(const Call& call) {  // x, scale, offset, mean, variance; layers may lack the second and third
  expect_channels_last(call);
  if (call.integer("is_training", 0) != 0) call.unsupported("training.");
  const float epsilon = call.number("epsilon", 1e-4f);
  if (const std::optional<Sizes> axis = call.integers("axis"))
    if (axis->size() != 1 || call.axis(axis->front(), call.rank()) != call.rank() - 1)
      call.unsupported("a norm along another axis than the last one.");
  const Tensor x = call.tensor(0);
  // A factor and a summand, which are computed once: what is left is part of the convolution before it.
  Tensor factor = rsqrt(call.tensor(4) + epsilon);
  if (call.has(1)) factor = factor * call.tensor(1);
  const Tensor shift = call.tensor(3) * factor;
  return {call.give(x * factor + (call.has(2) ? call.tensor(2) - shift : -shift))};
}

Results local_response(const Call& call) {
  return {call.give(lrn(call.tensor(0), {.depth_radius = call.integer("depth_radius", 5),
                                         .bias = call.number("bias", 1),
                                         .alpha = call.number("alpha", 1),
                                         .beta = call.number("beta", 0.5f)}))};
}

Coordinates coordinates_of(const Call& call) {
  return call.integer("align_corners", 0) != 0        ? Coordinates::align_corners
         : call.integer("half_pixel_centers", 0) != 0 ? Coordinates::half_pixel
                                                      : Coordinates::asymmetric;
}

Results resized_by(const Call& call, Resize how) {
  call.expect_rank(0, 4, 4);
  how.coordinates = coordinates_of(call);
  // As TensorFlow has it: down, but halfway between points up.
  how.nearest = how.coordinates == Coordinates::asymmetric ? Nearest::down : Nearest::prefer_upper;
  const Sizes size = call.integers_of(1);
  call.expect(size.size() == 2 && size[0] >= 1 && size[1] >= 1, "its second input is no height and width.");
  const bool is_bilinear = how.mode == Interpolation::bilinear;
  const Tensor x = is_bilinear && !is_float(call.tensor(0).dtype()) ? call.tensor(0).cast(DType::f32) : call.tensor(0);
  return {call.give(resize(x, size[0], size[1], how),
                    is_bilinear && call.type() != Type::float16 ? Type::float32 : call.type())};
}

Results upsampled(const Call& call) {
  call.expect_rank(0, 4, 4);
  const Sizes factors = call.integers("size").value_or(Sizes{2, 2});
  call.expect(factors.size() == 2, "its size is not two numbers.");
  for (const std::int64_t factor : factors)
    call.expect(factor >= 1 && factor <= 4096, "a factor is " + std::to_string(factor) + ".");
  const bool is_bilinear = call.text("interpolation", "nearest") == "bilinear";
  const Resize how{.mode = is_bilinear ? Interpolation::bilinear : Interpolation::nearest,
                   .coordinates = is_bilinear ? Coordinates::half_pixel : Coordinates::asymmetric,
                   .nearest = Nearest::down};
  return {call.give(resize(call.tensor(0), call.shape(0)[1] * factors[0], call.shape(0)[2] * factors[1], how))};
}

Results cut_and_resized(const Call& call) {
  const Sizes size = call.integers_of(3);
  call.expect(size.size() == 2 && size[0] >= 1 && size[1] >= 1, "its size is no height and width.");
  const std::string method = call.text("method", "bilinear");
  if (method != "bilinear" && method != "nearest") call.unsupported("there is no method '" + method + "'.");
  return {call.give(crop_and_resize(call.tensor(0), call.tensor(1), call.tensor(2), size[0], size[1],
                                    {.mode = method == "nearest" ? Interpolation::nearest : Interpolation::bilinear,
                                     .extrapolation = call.number("extrapolation_value", 0)}))};
}

Results suppressed_within_capacity(const Call& call, std::int64_t most, double overlap, double least) {
  const bool pads = call.integer("pad_to_max_output_size", 0) != 0,
             has_scores = call.node().op == "NonMaxSuppressionV5";
  const std::int64_t boxes = call.shape(1)[0], room = pads ? most : *call.node().capacity;
  const Tensor scores = call.tensor(1);
  const onnx::KeptBoxes kept = onnx::kept_boxes(call, call.tensor(0).reshape({1, boxes, 4}),
                                                scores.reshape({1, 1, boxes}), {most, overlap, least}, room);
  const Tensor chosen = slice(kept.rows, {0, 2}, {room, 1}).reshape({room}), is_none = chosen == onnx::no_place;
  Results results{call.give(pads ? where(is_none, 0, chosen) : chosen, Type::int32)};
  if (has_scores)
    results.push_back(call.give(
        boxes == 0 ? call.context().zeros({room}) : where(is_none, 0, gather(scores, chosen, 0)), Type::float32));
  if (has_scores || call.node().op == "NonMaxSuppressionV4") results.push_back(call.give(kept.count, Type::int32));
  results.push_back(results.size() > 1 ? results.back() : call.give(kept.count, Type::int32));
  return results;
}

// boxes [n,4], scores [n], the most boxes, overlap, least score, sigma. Results: indices; their scores (V5); how many.
Results suppressed(const Call& call) {
  call.expect_rank(0, 2, 2);
  call.expect_rank(1, 1, 1);
  if (call.shape(0) != Shape{call.shape(1)[0], 4})
    call.fail(ErrorCode::shape_mismatch,
              "its boxes " + call.shape(0).to_string() + " do not fit the scores " + call.shape(1).to_string() + ".");
  if (call.has(5) && call.number_of(5) != 0) call.unsupported("soft suppression.");
  const bool has_scores = call.node().op == "NonMaxSuppressionV5";
  const std::int64_t most = call.integer_of(2);
  call.expect(most >= 0 && most <= Shape::max_size, "it would keep " + std::to_string(most) + " boxes.");
  const double overlap = call.has(3) ? call.number_of(3) : 0.5,
               least = call.has(4) ? call.number_of(4) : -std::numeric_limits<double>::infinity();
  if (call.node().capacity) return suppressed_within_capacity(call, most, overlap, least);
  const std::vector<double> corners = call.numbers_of(0), scores = call.numbers_of(1);
  Sizes kept = onnx::kept_boxes(corners, scores, most, overlap, least);
  const auto count = static_cast<std::int64_t>(kept.size());
  std::vector<float> kept_scores;
  for (const std::int64_t box : kept) kept_scores.push_back(static_cast<float>(scores[static_cast<std::size_t>(box)]));
  if (call.integer("pad_to_max_output_size", 0) != 0) {
    call.expect(most <= 1 << 20, "it would keep " + std::to_string(most) + " boxes.");
    kept.resize(static_cast<std::size_t>(most), 0), kept_scores.resize(kept.size(), 0);
  }
  const Shape shape{static_cast<std::int64_t>(kept.size())};
  Results results{tensor_of_integers(call, kept, shape)};
  if (has_scores)
    results.push_back(
        call.trace().result(call.trace().context(true).tensor(shape, kept_scores), Type::float32, Order::plain, true));
  results.push_back(tensor_of_integers(call, {count}, {}));
  return results;
}

// What ONNX calls int64 is an int32 in TF.js.
Value as_int32(const Call& call, const Value& value, const std::vector<int>& permutation = {}) {
  const Tensor tensor = call.trace().tensor(value, Order::plain, value.is_known());
  return call.trace().result(permutation.empty() ? tensor : transpose(tensor, permutation), Type::int32, Order::plain,
                             value.is_known());
}

Results places_of_truth(const Call& call) {  // ONNX has the axes first
  Results results = onnx::onnx_operator("NonZero", 17).run(call);
  results[0] = as_int32(call, results[0], {1, 0});
  if (results.size() > 1) results[1] = as_int32(call, results[1]);
  return results;
}

// The distinct slices in the order in which they come, which of them each is, and how often each was.
Results distinct(const Call& call) {
  onnx::NodeProto node;
  node.op = "Unique";
  node.capacity = call.node().capacity;
  node.attributes.emplace_back().name = "sorted";  // 0
  if (call.has(1) && call.shape(1).size() > 0) {
    node.attributes.emplace_back().name = "axis";
    node.attributes.back().integer = call.integer_of(1);
  }
  const Results made =
      onnx::onnx_operator("Unique", 17).run(Call(call.trace(), node, call.names(), {call.value(0)}, call.on_host()));
  Results results{made[0], as_int32(call, made[2])};
  if (call.node().op.starts_with("UniqueWithCounts")) results.push_back(as_int32(call, made[3]));
  if (made.size() > 4) results.push_back(as_int32(call, made[4]));
  return results;
}

Results along_last(const Call& call, const char* name) { return onnx::onnx_operator(name, 17).run(call); }

}  // namespace

const Operators& other_operators() {
  static const Operators rows{
      {"Sum", 1, reduced([](const Tensor& x, const Reduce& over) { return sum(x, over); })},
      {"Mean", 1, reduced(mean_of)},
      {"Prod", 1, reduced([](const Tensor& x, const Reduce& over) { return prod(x, over); })},
      {"Max", 1, reduced([](const Tensor& x, const Reduce& over) { return max(x, over); })},
      {"Min", 1, reduced([](const Tensor& x, const Reduce& over) { return min(x, over); })},
      {"All", 1, reduced([](const Tensor& x, const Reduce& over) { return all(x, over); })},
      {"Any", 1, reduced([](const Tensor& x, const Reduce& over) { return any(x, over); })},
      {"EuclideanNorm", 1, reduced([](const Tensor& x, const Reduce& over) { return l2_norm(x, over); })},
      {"ArgMax", 1, place_along_axis([](const Tensor& x, int axis) { return argmax(x, axis); })},
      {"ArgMin", 1, place_along_axis([](const Tensor& x, int axis) { return argmin(x, axis); })},
      {"Cumsum", 1, running([](const Tensor& x, int axis, const Scan& how) { return cumsum(x, axis, how); })},
      {"Cumprod", 1, running([](const Tensor& x, int axis, const Scan& how) { return cumprod(x, axis, how); })},
      {"TopKV2", 1, largest},
      {"MatMul", 1, product},
      {"_FusedMatMul", 1, product},
      {"BatchMatMul", 1, product},
      {"BatchMatMulV2", 1, product},
      {"Einsum", 1, [](const Call& call) { return along_last(call, "Einsum"); }},
      {"Softmax", 1, [](const Call& call) { return along_last(call, "Softmax"); }},
      {"LogSoftmax", 1, [](const Call& call) { return along_last(call, "LogSoftmax"); }},
      {"FusedBatchNorm", 1, normalised},
      {"FusedBatchNormV2", 1, normalised},
      {"FusedBatchNormV3", 1, normalised},
      {"LRN", 1, local_response},
      {"ResizeBilinear", 1, [](const Call& call) { return resized_by(call, {.mode = Interpolation::bilinear}); }},
      {"ResizeNearestNeighbor", 1, [](const Call& call) { return resized_by(call, {.mode = Interpolation::nearest}); }},
      {"KerasUpSampling2D", 1, upsampled},
      {"CropAndResize", 1, cut_and_resized},
      {"NonMaxSuppressionV2", 1, suppressed},
      {"NonMaxSuppressionV3", 1, suppressed},
      {"NonMaxSuppressionV4", 1, suppressed},
      {"NonMaxSuppressionV5", 1, suppressed},
      {"Where", 1, places_of_truth},
      {"Unique", 1, distinct},
      {"UniqueV2", 1, distinct},
      {"UniqueWithCounts", 1, distinct},
      {"UniqueWithCountsV2", 1, distinct},
  };
  return rows;
}

}  // namespace tessera::tfjs
