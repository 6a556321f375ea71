// Operators on shapes, and tensors made of few numbers.
#include <algorithm>
#include <numeric>

#include "models/tfjs/operators.h"

namespace tessera::tfjs {

namespace {

Sizes sizes_of(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

// One size may be open: -1.
Tensor in_shape(const Call& call, Sizes sizes) {
  const std::int64_t count = call.shape(0).size();
  std::int64_t known = 1;
  std::size_t open = sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      call.expect(open == sizes.size(), "its shape leaves two sizes open.");
      open = i;
      continue;
    }
    call.expect(sizes[i] >= 0 && sizes[i] <= Shape::max_size, "a size would be " + std::to_string(sizes[i]) + ".");
    call.expect(sizes[i] == 0 || known <= Shape::max_size / sizes[i], "its shape is too large.");
    known *= sizes[i];
  }
  if (open < sizes.size()) {
    call.expect(known > 0 && count % known == 0,
                "the open size of its shape does not fit " + call.shape(0).to_string() + ".");
    sizes[open] = count / known;
  }
  return call.tensor(0).reshape(shape_from(call, sizes));
}

Results with_new_axis(const Call& call) {
  const int rank = call.rank(), axis = call.axis(call.integer_of(1), rank + 1);
  call.expect(rank < Shape::max_rank, "the result would have too many axes.");
  return {call.give(expand_dims(call.tensor(0), axis))};
}

Results without_axes(const Call& call) {
  const std::optional<Sizes> given =
      call.integers("squeeze_dims") ? call.integers("squeeze_dims") : call.integers("axis");
  std::vector<int> axes;
  for (const std::int64_t axis : given.value_or(Sizes{})) axes.push_back(call.axis(axis, call.rank()));
  return {call.give(squeeze(call.tensor(0), axes))};
}

Results with_axes_moved(const Call& call) {
  const Sizes given = call.has(1) ? call.integers_of(1) : Sizes{};
  const int rank = call.rank();
  std::vector<int> permutation;
  if (given.empty())
    for (int axis = rank; axis-- > 0;) permutation.push_back(axis);
  for (const std::int64_t axis : given) permutation.push_back(call.axis(axis, rank));
  std::vector<int> sorted = permutation;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  call.expect(sorted.size() == static_cast<std::size_t>(rank) && permutation.size() == sorted.size(),
              "its permutation does not fit " + call.shape(0).to_string() + ".");
  return {call.give(onnx::permuted(call.tensor(0), permutation))};
}

Results shapes_of_inputs(const Call& call) {
  Results results;
  for (int i = 0; i < call.inputs(); ++i)
    results.push_back(tensor_of_integers(call, sizes_of(call.shape(i)), {call.rank(i)}));
  return results;
}

Results filled(const Call& call) {
  const Shape shape = shape_from(call, call.integers_of(0));
  call.expect(call.shape(1).size() == 1, "its value is no single number.");
  return {call.give(broadcast_to(call.tensor(1).reshape({}), shape), call.type(1))};
}

template <int number>
Results constant_of_shape(const Call& call) {
  const Type type = static_cast<Type>(call.integer("T", static_cast<std::int64_t>(Type::float32)));
  return {
      call.give(call.context().full(shape_from(call, call.integers_of(0)), number, onnx::dtype_of(call, type)), type)};
}

template <int number>
Results constant_like(const Call& call) {
  return {call.give(call.context().full(call.shape(0), number, onnx::dtype_of(call, call.type())))};
}

Results spaced(const Call& call) {
  const std::int64_t count = call.integer_of(2);
  call.expect(count > 0 && count <= Shape::max_size, "it would have " + std::to_string(count) + " elements.");
  return {call.give(
      linspace(call.context(), static_cast<float>(call.number_of(0)), static_cast<float>(call.number_of(1)), count),
      Type::float32)};
}

Results one_hot_of(const Call& call) {
  const std::int64_t depth = call.integer_of(1);
  call.expect(depth >= 0 && depth <= Shape::max_size, "its depth is " + std::to_string(depth) + ".");
  const OneHot how{.on = call.has(2) ? call.number_of(2) : 1,
                   .off = call.has(3) ? call.number_of(3) : 0,
                   .axis = call.axis(call.integer("axis", -1), call.rank() + 1),
                   .dtype = call.has(2) ? onnx::dtype_of(call, call.type(2)) : DType::f32};
  return {call.give(one_hot(call.tensor(0).cast(DType::i32), depth, how), call.has(2) ? call.type(2) : Type::float32)};
}

Results depth_to_space_of(const Call& call) {
  expect_channels_last(call);
  call.expect_rank(0, 4, 4);
  return {call.give(depth_to_space(call.tensor(0), call.integer("block_size")))};
}

Results space_to_depth_of(const Call& call) {
  expect_channels_last(call);
  call.expect_rank(0, 4, 4);
  return {call.give(space_to_depth(call.tensor(0), call.integer("block_size")))};
}

struct Blocks {
  Sizes sizes, margins;  // along each axis after the batch; before and after it
  std::int64_t count = 1;
};

Blocks blocks_of(const Call& call) {
  Blocks blocks{call.integers_of(1), call.integers_of(2)};
  const std::size_t axes = blocks.sizes.size();
  call.expect(
      axes >= 1 && axes < static_cast<std::size_t>(call.rank()) && blocks.margins.size() == 2 * axes &&
          2 * axes + 1 + static_cast<std::size_t>(call.rank()) - axes - 1 <= static_cast<std::size_t>(Shape::max_rank),
      "its blocks do not fit " + call.shape(0).to_string() + ".");
  for (const std::int64_t size : blocks.sizes) {
    call.expect(size >= 1 && blocks.count <= Shape::max_size / size,
                "a block has a size of " + std::to_string(size) + ".");
    blocks.count *= size;
  }
  for (const std::int64_t margin : blocks.margins)
    call.expect(margin >= 0 && margin <= Shape::max_size, "a margin is " + std::to_string(margin) + ".");
  return blocks;
}

Results space_to_batch(const Call& call) {
  const Blocks blocks = blocks_of(call);
  const std::size_t axes = blocks.sizes.size();
  std::vector<PadWidth> widths(static_cast<std::size_t>(call.rank()));
  for (std::size_t i = 0; i < axes; ++i) widths[i + 1] = {blocks.margins[2 * i], blocks.margins[2 * i + 1]};
  const Tensor x = pad(call.tensor(0), widths);
  Sizes apart{x.shape()[0]}, result{x.shape()[0] * blocks.count};
  std::vector<int> permutation;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t size = x.shape()[static_cast<int>(i) + 1];
    call.expect(size % blocks.sizes[i] == 0, "its blocks do not divide " + x.shape().to_string() + ".");
    apart.insert(apart.end(), {size / blocks.sizes[i], blocks.sizes[i]});
    result.push_back(size / blocks.sizes[i]);
    permutation.push_back(static_cast<int>(2 * i) + 2);
  }
  permutation.push_back(0);
  for (std::size_t i = 0; i < axes; ++i) permutation.push_back(static_cast<int>(2 * i) + 1);
  for (int axis = static_cast<int>(axes) + 1; axis < call.rank(); ++axis) {
    permutation.push_back(static_cast<int>(apart.size()));
    apart.push_back(x.shape()[axis]);
    result.push_back(x.shape()[axis]);
  }
  return {call.give(transpose(x.reshape(Shape(apart)), permutation).reshape(Shape(result)))};
}

Results batch_to_space(const Call& call) {
  const Blocks blocks = blocks_of(call);
  const int axes = static_cast<int>(blocks.sizes.size());
  const Shape& shape = call.shape(0);
  call.expect(shape[0] % blocks.count == 0, "its blocks do not divide the batch of " + shape.to_string() + ".");
  Sizes apart = blocks.sizes, whole{shape[0] / blocks.count};
  apart.push_back(shape[0] / blocks.count);
  std::vector<int> permutation{axes};
  for (int i = 0; i < axes; ++i) {
    permutation.insert(permutation.end(), {axes + 1 + i, i});
    whole.push_back(shape[i + 1] * blocks.sizes[static_cast<std::size_t>(i)]);
  }
  for (int axis = 1; axis < shape.rank(); ++axis) apart.push_back(shape[axis]);
  for (int axis = axes + 1; axis < shape.rank(); ++axis) {
    permutation.push_back(axes + axis);
    whole.push_back(shape[axis]);
  }
  Sizes begin(whole.size(), 0), size = whole;
  for (std::size_t i = 0; i < blocks.sizes.size(); ++i) {
    begin[i + 1] = blocks.margins[2 * i];
    size[i + 1] -= blocks.margins[2 * i] + blocks.margins[2 * i + 1];
    call.expect(size[i + 1] >= 0, "its crops leave nothing of " + shape.to_string() + ".");
  }
  const Tensor x = transpose(call.tensor(0).reshape(Shape(apart)), permutation).reshape(Shape(whole));
  return {call.give(size == whole ? x : slice(x, begin, size))};
}

}  // namespace

const Operators& shape_operators() {
  static const Operators rows{
      {"Reshape", 1, [](const Call& call) -> Results { return {call.give(in_shape(call, call.integers_of(1)))}; }},
      {"KerasReshape", 1,  // all but the batch
       [](const Call& call) -> Results {
         call.expect_rank(0, 1);
         Sizes sizes = call.integers("target_shape").value_or(Sizes{});
         sizes.insert(sizes.begin(), call.shape(0)[0]);
         return {call.give(in_shape(call, sizes))};
       }},
      {"ExpandDims", 1, with_new_axis},
      {"Squeeze", 1, without_axes},
      {"Transpose", 1, with_axes_moved},
      {"Shape", 1, shapes_of_inputs},
      {"ShapeN", 1, shapes_of_inputs},
      {"Size", 1, [](const Call& call) -> Results { return {tensor_of_integers(call, {call.shape(0).size()}, {})}; }},
      {"Rank", 1, [](const Call& call) -> Results { return {tensor_of_integers(call, {call.rank()}, {})}; }},
      {"BroadcastTo", 1,
       [](const Call& call) -> Results {
         return {call.give(broadcast_to(call.tensor(0), shape_from(call, call.integers_of(1))))};
       }},
      {"Tile", 1, [](const Call& call) -> Results { return {call.give(tile(call.tensor(0), call.integers_of(1)))}; }},
      {"Fill", 1, filled},
      {"Ones", 1, constant_of_shape<1>},
      {"Zeros", 1, constant_of_shape<0>},
      {"OnesLike", 1, constant_like<1>},
      {"ZerosLike", 1, constant_like<0>},
      {"Range", 1, [](const Call& call) { return onnx::onnx_operator("Range", 17).run(call); }},
      {"LinSpace", 1, spaced},
      {"OneHot", 1, one_hot_of},
      {"DepthToSpace", 1, depth_to_space_of},
      {"SpaceToDepth", 1, space_to_depth_of},
      {"SpaceToBatchND", 1, space_to_batch},
      {"BatchToSpaceND", 1, batch_to_space},
  };
  return rows;
}

}  // namespace tessera::tfjs
