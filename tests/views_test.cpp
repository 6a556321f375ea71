// Other orders and shapes of the same elements, against plain loops and published examples.
#include <algorithm>
#include <cstdint>

#include "support/compare.h"
#include "support/devices.h"
#include "support/host_tensor.h"

namespace tessera::test::views_test {
namespace {

class Views : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    choices_ = Choices(7);
  }

  // Calls check(x on the host, x) for tensors of random shapes of each rank, of each type in turn.
  template <class Check>
  void on_random_tensors(const Check& check) {
    int turn = 0;
    for (int rank = 1; rank <= 6; ++rank)
      for (int times = 0; times < 3; ++times) {
        const DType dtype = every_dtype[turn++ % std::size(every_dtype)];
        const HostTensor host = choices_.tensor(choices_.shape(rank, rank > 4 ? 3 : 5), dtype);
        SCOPED_TRACE(host.shape.to_string() + " " + std::string(to_string(dtype)));
        check(host, host.on(context(), dtype));
      }
  }
  std::vector<std::int64_t> dims_of(const HostTensor& host) {
    return {host.shape.dims().begin(), host.shape.dims().end()};
  }

  std::uint64_t dispatches(const Tensor& tensor) { return dispatches_of(context(), tensor); }
  Tensor counted(const Shape& shape) {  // 0, 1, 2, …
    std::vector<float> values;
    for (std::int64_t i = 0; i < shape.size(); ++i) values.push_back(static_cast<float>(i));
    return context().tensor(shape, values).compute();
  }

  Choices choices_{7};
};

TEST_P(Views, Transpose) {
  on_random_tensors([&](const HostTensor& host, const Tensor& x) {
    const std::vector<int> order = choices_.permutation(host.shape.rank());
    std::vector<std::int64_t> dims;
    for (const int axis : order) dims.push_back(host.shape[axis]);
    expect_equal(transpose(x, order), made(Shape(dims), [&](const Position& at) {
                   Position from(at.size());
                   for (std::size_t i = 0; i < at.size(); ++i) from[static_cast<std::size_t>(order[i])] = at[i];
                   return host.at(from);
                 }));
  });
  EXPECT_EQ(transpose(context().tensor({2, 3}, {1, 2, 3, 4, 5, 6})).read(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(transpose(context().zeros({2, 3, 4})).shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(transpose(context().full({}, 3)).read(), std::vector<float>{3});
  // One past each power of two and each tile.
  const HostTensor host = choices_.tensor({65, 33}, DType::f32);
  expect_equal(transpose(host.on(context()), {-1, 0}), made({33, 65}, [&](const Position& at) {
                 return host.at({at[1], at[0]});
               }));
}

TEST_P(Views, Slice) {
  on_random_tensors([&](const HostTensor& host, const Tensor& x) {
    std::vector<std::int64_t> begin, size, dims;
    for (const std::int64_t dim : host.shape.dims()) {
      begin.push_back(choices_.between(0, dim - 1));
      dims.push_back(choices_.between(1, dim - begin.back()));
      size.push_back(dims.back() == dim - begin.back() ? -1 : dims.back());
    }
    expect_equal(slice(x, begin, size), made(Shape(dims), [&](Position at) {
                   for (std::size_t i = 0; i < at.size(); ++i) at[i] += begin[i];
                   return host.at(at);
                 }));
  });
  // The example of TensorFlow's tf.slice.
  const Tensor t = context().tensor({3, 2, 3}, {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6});
  EXPECT_EQ(slice(t, {1, 0, 0}, {1, 1, 3}).read(), (std::vector<float>{3, 3, 3}));
  EXPECT_EQ(slice(t, {1, 0, 0}, {1, 2, 3}).read(), (std::vector<float>{3, 3, 3, 4, 4, 4}));
  EXPECT_EQ(slice(t, {1, 0, 0}, {2, 1, 3}).read(), (std::vector<float>{3, 3, 3, 5, 5, 5}));
}

TEST_P(Views, StridedSlice) {
  on_random_tensors([&](const HostTensor& host, const Tensor& x) {
    std::vector<std::int64_t> begin, end, steps, dims;
    std::vector<std::vector<std::int64_t>> places;  // along each axis, by walking it
    for (const std::int64_t dim : host.shape.dims()) {
      steps.push_back(choices_.between(1, 3) * (choices_.between(0, 1) ? 1 : -1));
      begin.push_back(choices_.between(0, dim - 1));
      end.push_back(steps.back() > 0 ? dim + choices_.between(0, 2) : INT64_MIN);
      std::vector<std::int64_t>& along = places.emplace_back();
      for (std::int64_t at = begin.back(); at >= 0 && at < dim; at += steps.back()) along.push_back(at);
      dims.push_back(static_cast<std::int64_t>(along.size()));
      if (choices_.between(0, 1)) begin.back() -= dim;  // the same place, counted from the end
    }
    expect_equal(strided_slice(x, begin, end, steps), made(Shape(dims), [&](Position at) {
                   for (std::size_t i = 0; i < at.size(); ++i) at[i] = places[i][static_cast<std::size_t>(at[i])];
                   return host.at(at);
                 }));
  });
  // The examples of ONNX's Slice: x[0:3, 0:10] with steps, negative ends and negative steps, here on 20 elements.
  const Tensor x = counted({20});
  EXPECT_EQ(strided_slice(x, {20}, {0}, {-6}).read(), (std::vector<float>{19, 13, 7, 1}));
  EXPECT_EQ(strided_slice(x, {0}, {-17}).read(), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(strided_slice(x, {18}, {1000}).read(), (std::vector<float>{18, 19}));
  EXPECT_EQ(strided_slice(x, {1000}, {1000}).shape(), Shape{0});
  EXPECT_EQ(strided_slice(x, {5}, {2}).shape(), Shape{0});
  // The example of TensorFlow's tf.strided_slice.
  const Tensor t = context().tensor({3, 2, 3}, {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6});
  EXPECT_EQ(strided_slice(t, {1, -1, 0}, {2, -3, 3}, {1, -1, 1}).read(), (std::vector<float>{4, 4, 4, 3, 3, 3}));
}

TEST_P(Views, Reverse) {
  on_random_tensors([&](const HostTensor& host, const Tensor& x) {
    std::vector<int> axes = choices_.permutation(host.shape.rank());
    axes.resize(static_cast<std::size_t>(choices_.between(1, host.shape.rank())));
    expect_equal(reverse(x, axes), made(host.shape, [&](Position at) {
                   for (const int axis : axes)
                     at[static_cast<std::size_t>(axis)] = host.shape[axis] - 1 - at[static_cast<std::size_t>(axis)];
                   return host.at(at);
                 }));
  });
  EXPECT_EQ(reverse(counted({5})).read(), (std::vector<float>{4, 3, 2, 1, 0}));
  EXPECT_EQ(reverse(counted({2, 2})).read(), (std::vector<float>{3, 2, 1, 0}));
}

TEST_P(Views, BroadcastTo) {
  on_random_tensors([&](const HostTensor& host, const Tensor& x) {
    Position from = dims_of(host), to = from;
    for (std::size_t axis = 0; axis < from.size(); ++axis)
      if (choices_.between(0, 1)) from[axis] = 1;
    const Tensor thin = slice(x, Position(from.size(), 0), from);
    if (to.size() < 6) to.insert(to.begin(), 2);
    expect_equal(broadcast_to(thin, Shape(to)), made(Shape(to), [&](const Position& at) {
                   Position source(from.size());
                   for (std::size_t axis = 0; axis < from.size(); ++axis)
                     source[axis] = from[axis] == 1 ? 0 : at[axis + at.size() - from.size()];
                   return host.at(source);
                 }));
  });
  // The example of ONNX's Expand: the shape stretches too.
  EXPECT_EQ(expand(counted({3, 1}), {2, 1, 6}).shape(), (Shape{2, 3, 6}));
  EXPECT_EQ(expand(counted({3, 1}), {1, 2}).read(), (std::vector<float>{0, 0, 1, 1, 2, 2}));
}

TEST_P(Views, Tile) {
  on_random_tensors([&](const HostTensor& host, const Tensor& x) {
    std::vector<std::int64_t> repeats, dims;
    for (const std::int64_t dim : host.shape.dims()) {
      repeats.push_back(choices_.between(1, 2));
      dims.push_back(dim * repeats.back());
    }
    expect_equal(tile(x, repeats), made(Shape(dims), [&](Position at) {
                   for (std::size_t i = 0; i < at.size(); ++i) at[i] %= host.shape[static_cast<int>(i)];
                   return host.at(at);
                 }));
  });
  // The example of ONNX's Tile.
  EXPECT_EQ(tile(context().tensor({2, 2}, {0, 1, 2, 3}), {2, 2}).read(),
            (std::vector<float>{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}));
}

TEST_P(Views, Split) {
  const std::vector<Tensor> thirds = split(counted({2, 6}), 3, 1);
  ASSERT_EQ(thirds.size(), 3u);
  EXPECT_EQ(thirds[1].read(), (std::vector<float>{2, 3, 8, 9}));
  const std::vector<Tensor> parts = split_sizes(counted({2, 6}), {1, 0, 5}, -1);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].read(), (std::vector<float>{0, 6}));
  EXPECT_EQ(parts[1].shape(), (Shape{2, 0}));
  EXPECT_EQ(parts[2].read(), (std::vector<float>{1, 2, 3, 4, 5, 7, 8, 9, 10, 11}));
}

TEST_P(Views, ShapesOnly) {
  const Tensor x = counted({1, 2, 1, 3});
  EXPECT_EQ(flatten(x).shape(), Shape{6});
  EXPECT_EQ(squeeze(x).shape(), (Shape{2, 3}));
  EXPECT_EQ(squeeze(x, {-2}).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(expand_dims(x, 4).shape(), (Shape{1, 2, 1, 3, 1}));
  EXPECT_EQ(expand_dims(x, -1).shape(), (Shape{1, 2, 1, 3, 1}));
  EXPECT_EQ(expand_dims(x).shape(), (Shape{1, 1, 2, 1, 3}));
  EXPECT_EQ(dispatches(squeeze(expand_dims(x, 1))), 0u);
  EXPECT_EQ(squeeze(x).read(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST_P(Views, DepthAndSpace) {
  // The examples of TensorFlow's tf.nn.depth_to_space.
  EXPECT_EQ(depth_to_space(context().tensor({1, 1, 1, 4}, {1, 2, 3, 4}), 2).read(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(depth_to_space(context().tensor({1, 1, 1, 12}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), 2).shape(),
            (Shape{1, 2, 2, 3}));
  const Tensor blocks = context().tensor({1, 2, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  const std::vector<float> picture{1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16};
  EXPECT_EQ(depth_to_space(blocks, 2).read(), picture);
  EXPECT_EQ(depth_to_space(blocks, 2).shape(), (Shape{1, 4, 4, 1}));
  EXPECT_EQ(space_to_depth(context().tensor({1, 4, 4, 1}, picture), 2).read(), blocks.read());
  for (const DType dtype : every_dtype) {
    const HostTensor host = choices_.tensor({2, 3, 2, 18}, dtype);
    const Tensor image = depth_to_space(host.on(context(), dtype), 3);
    expect_equal(image, made({2, 9, 6, 2}, [&](const Position& at) {
                   return host.at({at[0], at[1] / 3, at[2] / 3, (at[1] % 3 * 3 + at[2] % 3) * 2 + at[3]});
                 }));
    expect_equal(space_to_depth(image, 3), host);
  }
}

TEST_P(Views, DiagPart) {
  const Tensor x = counted({3, 4});
  EXPECT_EQ(diag_part(x).read(), (std::vector<float>{0, 5, 10}));
  EXPECT_EQ(diag_part(x, 1).read(), (std::vector<float>{1, 6, 11}));
  EXPECT_EQ(diag_part(x, 2).read(), (std::vector<float>{2, 7}));
  EXPECT_EQ(diag_part(x, -1).read(), (std::vector<float>{4, 9}));
  EXPECT_EQ(diag_part(counted({2, 2, 2})).read(), (std::vector<float>{0, 3, 4, 7}));
}

TEST_P(Views, ReadersTakeThemIn) {
  const Tensor x = counted({4, 6}), y = counted({6, 4}), image = counted({1, 2, 2, 4});
  EXPECT_EQ(dispatches(transpose(x) + y), 1u);
  EXPECT_EQ(dispatches(relu(slice(x, {1, 1}, {2, 3}))), 1u);
  EXPECT_EQ(dispatches(reverse(x, {1}) * 2.0f + broadcast_to(slice(y, {0, 0}, {1, 1}).compute(), {4, 6})), 1u);
  EXPECT_EQ(dispatches(relu(depth_to_space(image, 2))), 1u);
  EXPECT_EQ(dispatches(relu(tile(x, {2, 3}))), 1u);
  EXPECT_EQ(dispatches(sum(transpose(x), {{0}})), 1u);
  EXPECT_EQ(dispatches(transpose(x)), 1u);
  EXPECT_EQ(dispatches(transpose(x, {0, 1})), 0u);
  EXPECT_EQ((transpose(x) + y).read()[5], 7.0f + 5.0f);
}

TEST_P(Views, OtherSizesCompileNothing) {
  (transpose(counted({4, 6})) + counted({6, 4})).compute();
  context().reset_stats();
  (transpose(counted({9, 5})) + counted({5, 9})).compute();
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
}

TEST_P(Views, ViewsOfViews) {
  const HostTensor host = choices_.tensor({4, 5, 6}, DType::f32);
  const Tensor x = host.on(context());
  expect_equal(reverse(transpose(slice(x, {1, 1, 2}, {2, 3, 4})), {1}), made({4, 3, 2}, [&](const Position& at) {
                 return host.at({1 + at[2], 1 + 2 - at[1], 2 + at[0]});
               }));
  expect_equal(transpose(transpose(x).reshape({5, 24})), made({24, 5}, [&](const Position& at) {
                 const std::int64_t element = at[1] * 24 + at[0];
                 return host.at({element % 4, element / 4 % 5, element / 20});
               }));
}

TEST_P(Views, OfNumbers) {
  EXPECT_EQ(transpose(context().full({2, 3}, 5)).read(), std::vector<float>(6, 5));
  EXPECT_EQ((reverse(context().full({2, 3}, 5)) + tile(context().full({1, 3}, 1), {2, 1})).read(),
            std::vector<float>(6, 6));
}

TEST_P(Views, OfViewsOfNumbersWhenOnlyTheLastIsHeld) {
  const Tensor ones = reverse(tile(reverse(context().full({2, 3}, 1)), {2, 2}), {0});
  EXPECT_EQ(ones.read(), std::vector<float>(24, 1));
  // Beside others that are computed with it.
  const Tensor twos = strided_slice(flip_left_right(context().full({3, 4, 1}, 2)), {3, 0, 0}, {-9, 4, 1}, {-1, 1, 1});
  const Tensor sum = twos + context().tensor({4, 1}, {1, 2, 3, 4});
  const std::vector<Tensor> both{sum, twos};
  context().compute(both);
  EXPECT_EQ(twos.read(), std::vector<float>(12, 2));
  EXPECT_EQ(sum.read(), (std::vector<float>{3, 4, 5, 6, 3, 4, 5, 6, 3, 4, 5, 6}));
}

TEST_P(Views, NoElements) {
  const Tensor x = context().zeros({0, 3});
  EXPECT_EQ(transpose(x).shape(), (Shape{3, 0}));
  EXPECT_TRUE(transpose(x).read().empty());
  EXPECT_TRUE(reverse(x).read().empty());
  EXPECT_EQ(slice(counted({3}), {3}, {-1}).shape(), Shape{0});
  EXPECT_EQ(slice(counted({3}), {1}, {0}).shape(), Shape{0});
  EXPECT_EQ(tile(counted({3}), {0}).shape(), Shape{0});
  EXPECT_EQ(tile(x, {2, 2}).shape(), (Shape{0, 6}));
  EXPECT_EQ(broadcast_to(counted({1, 3}), {0, 3}).shape(), (Shape{0, 3}));
  EXPECT_EQ(depth_to_space(context().zeros({0, 2, 2, 4}), 2).shape(), (Shape{0, 4, 4, 1}));
  EXPECT_EQ(diag_part(context().zeros({0, 0})).shape(), Shape{0});
  EXPECT_EQ(split(x, 3, 0).size(), 3u);
}

TEST_P(Views, BadInput) {
  const Tensor x = context().zeros({2, 3});
  EXPECT_TESSERA_ERROR(transpose(x, {0, 0}), invalid_argument, "transpose", "[0,0]", "[2,3]", "twice");
  EXPECT_TESSERA_ERROR(transpose(x, {0, 2}), invalid_argument, "transpose", "2", "rank 2");
  EXPECT_TESSERA_ERROR(transpose(x, {0}), invalid_argument, "transpose", "1 entries", "2 axes");
  EXPECT_TESSERA_ERROR(slice(x, {0, 2}, {1, 2}), invalid_argument, "slice", "begin 2", "size 2", "axis 1 of [2,3]");
  EXPECT_TESSERA_ERROR(slice(x, {3, 0}, {-1, -1}), invalid_argument, "slice", "begin 3", "axis 0 of [2,3]");
  EXPECT_TESSERA_ERROR(slice(x, {-1, 0}, {1, 1}), invalid_argument, "slice", "begin -1");
  EXPECT_TESSERA_ERROR(slice(x, {0, 0}, {1, -2}), invalid_argument, "slice", "-2");
  EXPECT_TESSERA_ERROR(slice(x, {0}, {1, 1}), invalid_argument, "slice", "1 begins", "2 axes");
  EXPECT_TESSERA_ERROR(slice(x, {0, 0}, {1, 1, 1}), invalid_argument, "slice", "3 sizes", "2 axes");
  EXPECT_TESSERA_ERROR(strided_slice(x, {0, 0}, {1, 1}, {1, 0}), invalid_argument, "strided_slice", "axis 1 of [2,3]",
                       "0");
  EXPECT_TESSERA_ERROR(strided_slice(x, {0, 0}, {1}, {}), invalid_argument, "strided_slice", "1 ends");
  EXPECT_TESSERA_ERROR(reverse(x, {2}), invalid_argument, "reverse", "2", "rank 2");
  EXPECT_TESSERA_ERROR(reverse(x, {1, -1}), invalid_argument, "reverse", "twice");
  EXPECT_TESSERA_ERROR(split(x, 2, 1), invalid_argument, "split", "3", "2 equal parts");
  EXPECT_TESSERA_ERROR(split(x, 0, 1), invalid_argument, "split", "0 equal parts");
  EXPECT_TESSERA_ERROR(split(x, 1, 2), invalid_argument, "split", "2", "rank 2");
  EXPECT_TESSERA_ERROR(split(context().zeros({0}), INT64_MAX, 0), out_of_memory, "split", "memory");
  EXPECT_TESSERA_ERROR(split_sizes(x, {1, 1}, 1), invalid_argument, "split", "add up to 2", "size of 3");
  EXPECT_TESSERA_ERROR(split_sizes(x, {2, 2}, 1), invalid_argument, "split", "more than 3");
  EXPECT_TESSERA_ERROR(split_sizes(x, {4, -1}, 1), invalid_argument, "split", "3");
  EXPECT_TESSERA_ERROR(broadcast_to(x, {2, 4}), shape_mismatch, "broadcast_to", "[2,3]", "[2,4]");
  EXPECT_TESSERA_ERROR(broadcast_to(x, {3}), shape_mismatch, "broadcast_to", "[2,3]", "[3]");
  EXPECT_TESSERA_ERROR(broadcast_to(x, {1, 3}), shape_mismatch, "broadcast_to", "[2,3]", "[1,3]");
  EXPECT_TESSERA_ERROR(expand(x, {2, 4}), shape_mismatch, "expand", "[2,3]", "[2,4]");
  EXPECT_TESSERA_ERROR(tile(x, {1, -2}), invalid_argument, "tile", "axis 1 of [2,3]", "-2");
  EXPECT_TESSERA_ERROR(tile(x, {1}), invalid_argument, "tile", "1 repeats", "2 axes");
  EXPECT_TESSERA_ERROR(squeeze(x, {1}), invalid_argument, "squeeze", "axis 1 of [2,3]", "3");
  EXPECT_TESSERA_ERROR(expand_dims(x, 4), invalid_argument, "expand_dims", "4");
  EXPECT_TESSERA_ERROR(depth_to_space(context().zeros({1, 1, 1, 6}), 2), invalid_argument, "depth_to_space", "6",
                       "(4)");
  EXPECT_TESSERA_ERROR(depth_to_space(x, 2), invalid_argument, "depth_to_space", "[2,3]", "[n,h,w,c]");
  EXPECT_TESSERA_ERROR(depth_to_space(context().zeros({1, 1, 1, 4}), 0), invalid_argument, "depth_to_space", "0");
  EXPECT_TESSERA_ERROR(space_to_depth(context().zeros({1, 4, 3, 1}), 2), invalid_argument, "space_to_depth", "3",
                       "(2)");
  EXPECT_TESSERA_ERROR(diag_part(x, 3), invalid_argument, "diag_part", "3", "[2,3]");
  EXPECT_TESSERA_ERROR(diag_part(context().zeros({3})), invalid_argument, "diag_part", "[3]");
}

// A part lies in the storage of the whole: within a row of a texture, over whole rows of it, or across them.
TEST_P(Views, PartsAreReadWhereverTheyBeginAndEnd) {
  constexpr std::int64_t count = 5003;
  for (const DType dtype : {DType::f32, DType::i32, DType::f16, DType::u8}) {
    std::vector<float> values;
    for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i % 251));
    const Tensor whole = context().tensor({count}, values).cast(dtype).compute();
    for (const std::int64_t first : {0, 1, 4, 1023, 1024, 1025, 2051})
      for (const std::int64_t length : {1, 3, 4, 1000, 1024, 2049, 2952}) {
        const Tensor part = slice(whole, {first}, {length});
        EXPECT_EQ(dispatches(part), 0u);
        const auto begin = values.begin() + first;
        EXPECT_EQ(part.read(), std::vector<float>(begin, begin + length))
            << length << " of " << to_string(dtype) << " from " << first << " on";
      }
  }
}

// Many elements are read in parts.
TEST_P(Views, LargePartsAreReadWhereverTheyBeginAndEnd) {
  std::vector<float> values(2'200'003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 251);
  const auto count = static_cast<std::int64_t>(values.size());
  const Tensor floats = context().tensor({count}, values).compute();
  const Tensor halves = floats.cast(DType::f16).compute();
  for (const std::int64_t first : {0, 5, 51'427})
    for (const std::int64_t length : {2'148'576, 2'097'153, 1'048'576}) {
      const auto begin = values.begin() + first;
      const std::vector<float> expected(begin, begin + length);
      for (const Tensor& whole : {floats, halves})
        EXPECT_TRUE(slice(whole, {first}, {length}).read() == expected)
            << length << " of " << to_string(whole.dtype()) << " from " << first << " on";
    }
  EXPECT_TRUE(halves.read_async<half>().get() == halves.read<half>());
}

TESSERA_ON_EACH_BACKEND(Views);

}  // namespace
}  // namespace tessera::test::views_test
