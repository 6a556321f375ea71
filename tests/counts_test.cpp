// What typical graphs cost on the GPU backends: dispatches and submissions, and that other sizes and other numbers
// compile nothing.
#include <functional>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::counts_test {
namespace {

// What a user would change from one run to the next.
struct Setting {
  std::int64_t batch = 4, length = 192, side = 12;
  float number = 0.5f;
};
using Build = std::function<std::vector<Tensor>(Context&, const Setting&)>;

// The same numbers in each context, on the device already.
Tensor values(Context& context, const Shape& shape, float low = -1, float high = 1) {
  return context.tensor(shape, random_values(static_cast<std::size_t>(shape.size()), low, high, 17)).compute();
}

Tensor image(Context& context, const Setting& its, std::int64_t channels) {
  return values(context, {its.batch, its.side, its.side, channels});
}

Tensor bytes(Context& context, const Shape& shape) {
  const std::vector<float> numbers = random_values(static_cast<std::size_t>(shape.size()), 0, 255, 18);
  return context.tensor(shape, as<std::uint8_t>(numbers)).compute();
}

// matmul with a bias.
Tensor dense(const Tensor& x, std::int64_t out, Context& context) {
  const std::int64_t in = x.shape()[-1];
  const float reach = 1 / std::sqrt(static_cast<float>(in));
  return matmul(x, values(context, {in, out}, -reach, reach)) + values(context, {out});
}

Tensor normed(const Tensor& x, Context& context) {
  const Shape channels{x.shape()[-1]};
  return layer_norm(x, {.gamma = values(context, channels, 0.5f, 1.5f), .beta = values(context, channels)});
}

// A block of a transformer on x [batch,length,width], with attention of several heads.
Tensor transformer_block(const Tensor& x, std::int64_t heads, Context& context) {
  const std::int64_t batch = x.shape()[0], length = x.shape()[1], width = x.shape()[2], head = width / heads;
  const Shape by_head{batch, length, heads, head};
  const Tensor y = normed(x, context);
  const Tensor queries = dense(y, width, context).reshape(by_head), keys = dense(y, width, context).reshape(by_head),
               answers = dense(y, width, context).reshape(by_head);
  const Tensor scores = einsum("bqhd,bkhd->bhqk", {queries, keys}) * (1 / std::sqrt(static_cast<float>(head)));
  const Tensor attended = einsum("bhqk,bkhd->bqhd", {softmax(scores), answers}).reshape(x.shape());
  const Tensor middle = dense(attended, width, context) + x;
  return dense(gelu(dense(normed(middle, context), 4 * width, context)), width, context) + middle;
}

struct Counts {
  std::uint64_t webgpu, gles;
};

class OperationCounts : public OnDevice {
 protected:
  // One submission of that many dispatches, with the results that the cpu has.
  void expect_counts(const char* name, const Counts& expected, const Build& build) {
    SCOPED_TRACE(name);
    constexpr Setting small{.batch = 2, .length = 16, .side = 8};
    const std::vector<Tensor> results = build(context(), small);
    context().reset_stats();
    context().compute(results);
    EXPECT_EQ(context().stats().submits, 1u);
    EXPECT_EQ(context().stats().dispatches,
              context().backend() == BackendKind::webgpu ? expected.webgpu : expected.gles);
    const std::vector<Tensor> on_cpu = build(cpu_context(), small);
    for (std::size_t i = 0; i < results.size(); ++i)
      EXPECT_TRUE(all_agree(results[i].read(), on_cpu[i].read(), 1e-4f)) << "result " << i;
  }

  // Nothing compiles for other settings than the one that was run first. Where an operation has several ways to go
  // about it, sizes stay with one: products of fewer than four rows or of few tiles, rows and reductions of
  // fewer elements than make it worth to share them out, and sizes that are not whole texels have kernels of their own.
  void expect_compiled_once(const char* name, const Build& build) {
    SCOPED_TRACE(name);
    const auto run = [&](const Setting& setting) {
      const std::vector<Tensor> results = build(context(), setting);
      context().reset_stats();
      context().compute(results);
      return context().stats().kernels_compiled;
    };
    run({});
    EXPECT_EQ(run({.batch = 7}), 0u) << "another batch";
    EXPECT_EQ(run({.length = 224}), 0u) << "another length";
    EXPECT_EQ(run({.side = 16}), 0u) << "another size of images";
    EXPECT_EQ(run({.number = 0.25f}), 0u) << "another number";
    EXPECT_EQ(run({.batch = 5, .length = 256, .side = 20, .number = 1.5f}), 0u) << "everything";
  }
};

TEST_P(OperationCounts, TypicalGraphs) {
  expect_counts("a layer of a perceptron", {1, 1}, [](Context& its, const Setting&) {
    return std::vector{gelu(dense(values(its, {8, 32}), 16, its))};
  });
  expect_counts("softmax", {1, 2}, [](Context& its, const Setting&) {
    return std::vector{softmax(values(its, {8, 300}))};
  });
  expect_counts("convolution, bias and activation", {1, 1}, [](Context& its, const Setting& setting) {
    const Tensor filter = values(its, {3, 3, 4, 8}), bias = values(its, {8});
    return std::vector{relu(conv2d(image(its, setting, 4), filter, {.padding = Padding::same}) + bias)};
  });
  expect_counts("an inverted residual of a network for phones", {3, 3}, [](Context& its, const Setting& setting) {
    const Tensor x = image(its, setting, 8);
    const auto normed_with = [&](const Tensor& y) {
      const Shape channels{y.shape()[-1]};
      return batch_norm(y, values(its, channels), values(its, channels, 0.5f, 2));
    };
    const Tensor wide = relu6(normed_with(conv2d(x, values(its, {1, 1, 8, 16}))));
    const Tensor deep =
        relu6(normed_with(conv2d(wide, values(its, {3, 3, 1, 16}), {.padding = Padding::same, .groups = 16})));
    return std::vector{normed_with(conv2d(deep, values(its, {1, 1, 16, 8}))) + x};
  });
  expect_counts("a frame for a network", {1, 1}, [](Context& its, const Setting&) {
    return std::vector{nv12_to_rgb(bytes(its, {8, 12}), bytes(its, {4, 6, 2})) * 2.0f - 1.0f};
  });
}

// 11 where workgroups share memory: two norms, four projections around two products and a softmax, two layers. Without,
// norms of rows of this length take two each, and projections and layers are made in blocks: for each of the six, one
// that multiplies, and one for each of the four tensors that they read. Weights are read where they lie, since the rows
// are few.
TEST_P(OperationCounts, ATransformerBlock) {
  expect_counts("a transformer block", {11, 19}, [](Context& its, const Setting& setting) {
    return std::vector{transformer_block(values(its, {setting.batch, setting.length, 128}), 4, its)};
  });
}

TESSERA_ON_EACH_GPU_BACKEND(OperationCounts);

// The graphs whose kernels are counted, a family each.
class ResizedPrograms : public OperationCounts {};

TEST_P(ResizedPrograms, Networks) {
  expect_compiled_once("a perceptron", [](Context& its, const Setting& setting) {
    const Tensor x = values(its, {setting.batch, 32});
    return std::vector{dense(relu(dense(x, 16, its) * setting.number), 10, its)};
  });
  expect_compiled_once("a transformer block", [](Context& its, const Setting& setting) {
    return std::vector{transformer_block(values(its, {setting.batch, setting.length / 2, 128}), 4, its) *
                       setting.number};
  });
  expect_compiled_once("convolutions and pooling", [](Context& its, const Setting& setting) {
    const Tensor x = image(its, setting, 3);
    const Tensor first = relu(conv2d(x, values(its, {3, 3, 3, 8}), {.strides = {2, 2}, .padding = Padding::same}));
    const Tensor each = conv2d(first, values(its, {3, 3, 1, 8}), {.padding = Padding::same, .groups = 8});
    const Tensor smaller = max_pool(each * setting.number, {.size = {2, 2}});
    const Tensor larger = conv2d_transpose(smaller, values(its, {3, 3, 4, 8}), {.strides = {2, 2}});
    const Tensor even = average_pool(larger, {.size = {3, 3}, .strides = {1, 1}, .padding = Padding::same});
    return std::vector{dense(global_average_pool(even).reshape({setting.batch, 4}), 10, its)};
  });
}

TEST_P(ResizedPrograms, RowsAndReductions) {
  expect_compiled_once("rows", [](Context& its, const Setting& setting) {
    const Tensor x = values(its, {setting.batch, setting.length, 200}), picture = image(its, setting, 8);
    return std::vector{log_softmax(x * setting.number),
                       rms_norm(x),
                       softmax(x, 1),
                       instance_norm(picture),
                       group_norm(picture, 2),
                       lrn(picture, {.alpha = setting.number}),
                       l2_normalize(x)};
  });
  expect_compiled_once("reductions", [](Context& its, const Setting& setting) {
    const Tensor x = values(its, {setting.batch, setting.length, 6});
    return std::vector{sum(x * setting.number, {{2}}),
                       max(x, {{1}}),
                       mean(x, {{0, 1}}),
                       prod(x, {{0}}),
                       l2_norm(x),
                       logsumexp(x, {{2}}),
                       argmax(x),
                       argmin(x, 1)};
  });
  expect_compiled_once("scans and sorts", [](Context& its, const Setting& setting) {
    const Tensor x = values(its, {setting.batch, setting.length, 6});
    const TopK best = top_k(x, 3);
    return std::vector{cumsum(x * setting.number, 1), cumprod(x, 0), sort(x, 1), argsort(x), best.values, best.indices};
  });
}

TEST_P(ResizedPrograms, MovingElements) {
  expect_compiled_once("views and joins", [](Context& its, const Setting& setting) {
    const Tensor x = values(its, {setting.batch, setting.length, 6});
    return std::vector{transpose(x, {0, 2, 1}) + setting.number,
                       strided_slice(x, {0, 1, 0}, {2, -1, 6}, {1, 2, 1}) * 2.0f,
                       relu(reverse(x, {1})),
                       tile(x, {1, 2, 1}) * 2.0f,
                       concat({x, x * 2.0f}, 1),
                       stack({x, x}, 1),
                       pad(x, {{0, 0}, {1, 2}, {0, 0}}, setting.number),
                       pad(x, {{0, 0}, {1, 2}, {0, 0}}, PadMode::reflect),
                       split(x, 2, 2)[1] + 1.0f};
  });
  expect_compiled_once("indices", [](Context& its, const Setting& setting) {
    const Tensor x = values(its, {setting.length, 6});
    const std::vector<std::int32_t> chosen(static_cast<std::size_t>(setting.batch), 1);
    const Tensor indices = its.tensor({setting.batch}, chosen).compute();
    const Tensor rows = indices.reshape({setting.batch, 1});
    return std::vector{gather(x, indices),
                       gather_nd(x, rows),
                       scatter_nd(rows, values(its, {setting.batch, 6}), {setting.length, 6}),
                       scatter_update(x, rows, values(its, {setting.batch, 6})),
                       one_hot(indices, setting.length) * setting.number,
                       eye(its, setting.length) * setting.number,
                       range(its, 0, static_cast<double>(setting.length)) * 2.0f,
                       linspace(its, 0, setting.number, setting.length),
                       triangle(x, Triangle::lower)};
  });
  expect_compiled_once("quantisation and random numbers", [](Context& its, const Setting& setting) {
    const Tensor x = values(its, {setting.batch, setting.length, 6});
    const Quantized narrow = quantize(x, 2);
    return std::vector{dequantize(narrow.values, narrow.scale, 2) * setting.number,
                       quantize_linear(x, values(its, {6}, 0.1f, 0.2f), DType::u8, 2),
                       fake_quantize(x, {.max = 5 + setting.number}),
                       matmul(narrow.values, transpose(narrow.values, {0, 2, 1})),
                       uniform(its, {setting.batch, setting.length}, 3, -1, setting.number),
                       normal(its, {setting.batch, setting.length}, 4, setting.number, 2)};
  });
}

TEST_P(ResizedPrograms, Images) {
  expect_compiled_once("images", [](Context& its, const Setting& setting) {
    const Tensor x = image(its, setting, 3), table = values(its, {4, 4, 4, 3}, 0, 1);
    const auto side = static_cast<int>(setting.side), other = side * 2 + 3;
    const Tensor boxes = values(its, {setting.batch, 4}, 0, 1),
                 whole =
                     its.tensor({setting.batch}, std::vector<std::int32_t>(static_cast<std::size_t>(setting.batch)));
    return std::vector{resize_bilinear(x, other, other) * setting.number,
                       resize(x, other, 5, {.mode = Interpolation::nearest}),
                       resize(x, other, other, {.mode = Interpolation::cubic}),
                       crop_and_resize(x, boxes, whole, side, 4),
                       affine_transform(x, {1, setting.number, 0, 0, 1, 0}),
                       rotate(x, setting.number),
                       relu(flip_left_right(x)),
                       colour_lookup(x, table),
                       gaussian_blur(x, 0.7f + 0.2f * setting.number),  // each count of taps is a kernel
                       histogram(x, 8, 0, 1 + setting.number)};
  });
  expect_compiled_once("frames", [](Context& its, const Setting& setting) {
    const Tensor y = bytes(its, {setting.batch, setting.side, setting.side});
    const Tensor uv = bytes(its, {setting.batch, setting.side / 2, setting.side / 2, 2});
    const Tensor rgb = nv12_to_rgb(y, uv) * setting.number;
    const Nv12 back = rgb_to_nv12(rgb);
    return std::vector{rgb, back.y, back.uv, to_u8(colour_matrix(rgb, {setting.number, 0, 0, 0, 1, 0, 0, 0, 1}))};
  });
}

// A sequence that grows by one element at a time: four lengths have all kernels there are.
TEST_P(ResizedPrograms, SequencesThatGrow) {
  const auto compiled_for = [&](std::int64_t length) {
    const Tensor result = transformer_block(values(context(), {2, length, 128}), 4, context());
    context().reset_stats();
    result.compute();
    return context().stats().kernels_compiled;
  };
  for (const std::int64_t length : {16, 17, 18, 19}) compiled_for(length);
  for (std::int64_t length = 20; length < 32; ++length) EXPECT_EQ(compiled_for(length), 0u) << length;
}

TESSERA_ON_EACH_GPU_BACKEND(ResizedPrograms);

}  // namespace
}  // namespace tessera::test::counts_test
