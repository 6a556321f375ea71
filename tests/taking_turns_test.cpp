// What only a program sees takes storages in turn, whatever the sizes: a program leaves little more in the pool than is
// alive at a time in a run, and the next run takes nothing else.
#include <cmath>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::taking_turns_test {
namespace {

using Body = std::function<Tensor(Context&, const Tensor&)>;

struct Kind {
  const char* name;
  Shape input;
  Body body;
  double most_on_gles = 1.3;  // more where sums, which lie in layers, or pixels of other formats are much of all
};

// Sums with these stay as large as what goes into them.
Tensor weights(Context& gpu, const Shape& shape, unsigned seed) {
  const std::int64_t results = shape[shape.rank() - 1], terms = shape.size() / results;
  const float most = 2 / std::sqrt(static_cast<float>(terms));
  return gpu.tensor(shape, random_values(static_cast<std::size_t>(shape.size()), -most, most, seed));
}

Tensor products_of_many_widths(Context& gpu, const Tensor& x) {
  Tensor y = x;
  unsigned seed = 1;
  for (const std::int64_t width : {700, 1500, 260, 1100, 90, 800, 130}) {
    const std::int64_t terms = y.shape()[1];
    y = relu(matmul(y, weights(gpu, {terms, width}, ++seed)));
  }
  return y;
}

// Down and up again; each level waits for its turn on the way back.
Tensor pyramid_of_convolutions(Context& gpu, const Tensor& x) {
  const Conv2d same{.padding = Padding::same};
  std::vector<Tensor> levels{relu(conv2d(x, weights(gpu, {3, 3, 3, 12}, 1), same))};
  for (const std::int64_t channels : {20, 28, 36}) {
    const std::int64_t before = levels.back().shape()[3];
    const Conv2d half{.strides = {2, 2}, .padding = Padding::same};
    levels.push_back(relu(conv2d(levels.back(), weights(gpu, {3, 3, before, channels}, 2), half)));
  }
  Tensor y = levels.back();
  for (std::size_t level = levels.size() - 1; level-- > 0;) {
    const Shape& to = levels[level].shape();
    y = conv2d(resize_bilinear(y, to[1], to[2]), weights(gpu, {1, 1, y.shape()[3], to[3]}, 3), same) + levels[level];
  }
  return conv2d(y, weights(gpu, {3, 3, 12, 1}, 4), same);
}

// All results have one size, in their order and as kernels read them.
Tensor squares(Context& gpu, const Tensor& x) {
  Tensor y = x;
  for (unsigned i = 0; i < 4; ++i) y = matmul(softmax(y), weights(gpu, {128, 128}, i));
  return y;
}

Tensor pictures_of_many_sizes(Context&, const Tensor& x) {
  Tensor y = x;
  for (const std::int64_t side : {150, 90, 220, 60, 180, 120}) {
    y = gaussian_blur(resize_bilinear(y, side, side + 10), 1.5f);
    y = y - mean(y);
  }
  return y;
}

Tensor rows_of_many_types(Context&, const Tensor& x) {
  Tensor y = x;
  for (const std::int64_t columns : {300, 77, 512, 130, 41}) {
    y = tile(slice(y, {0, 0}, {y.shape()[0], 40}), {1, 1 + columns / 40});
    y = softmax(slice(y, {0, 0}, {y.shape()[0], columns}));
    const Tensor whole = (y * 1000.0f).cast(DType::i32), narrow = cumsum(y, 1).cast(DType::f16);
    y = transpose(transpose(whole).cast(DType::f32) * 0.001f) + softmax(narrow).cast(DType::f32);
  }
  return y;
}

// What the first convolutions make is far more than all that follows, in the order of its elements, which several read,
// and as kernels read it.
Tensor funnel_of_convolutions(Context& gpu, const Tensor& x) {
  const Conv2d same{.padding = Padding::same}, half{.strides = {2, 2}, .padding = Padding::same};
  Tensor y = relu(conv2d(x, weights(gpu, {3, 3, 3, 40}, 1), same));
  y = y * mean(y, {.axes = {1, 2}, .keep_dims = true});
  y = relu(conv2d(y, weights(gpu, {1, 1, 40, 36}, 2), same));
  for (const std::int64_t channels : {8, 12})
    y = relu(conv2d(y, weights(gpu, {3, 3, y.shape()[3], channels}, 3), half));
  return conv2d(y, weights(gpu, {3, 3, 12, 5}, 4), same);
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"products", {96, 200}, products_of_many_widths},         {"pyramid", {1, 72, 88, 3}, pyramid_of_convolutions},
      {"funnel", {1, 75, 83, 3}, funnel_of_convolutions},       {"squares", {128, 128}, squares, 1.5},
      {"pictures", {200, 160, 3}, pictures_of_many_sizes, 1.5}, {"rows", {64, 100}, rows_of_many_types}};
  return all;
}

class TakingTurns : public OnDevice {
 protected:
  ContextOptions options() const { return {.prefer = {GetParam().backend}, .driver = GetParam().driver}; }
  static Program record(Context& gpu, const Kind& kind) {
    return Program::record(gpu, {{kind.input}},
                           [&](std::span<const Tensor> x) { return std::vector{kind.body(gpu, x[0])}; });
  }
  static std::vector<float> input(const Kind& kind) {
    return random_values(static_cast<std::size_t>(kind.input.size()), 0, 1, 7);
  }
  static std::vector<float> expected(const Kind& kind) {
    Context& cpu = cpu_context();
    return kind.body(cpu, cpu.tensor(kind.input, input(kind))).read();
  }

  // Under a budget, each tensor has a storage of just its size.
  struct Alone {
    std::vector<float> result;
    std::uint64_t largest_live_set;  // of a run
  };
  Alone alone(const Kind& kind) const {
    ContextOptions with_budget = options();
    with_budget.memory_budget = std::uint64_t{1} << 30;
    Context gpu = Context::create(with_budget);
    const Tensor x = gpu.tensor(kind.input, input(kind)).compute();
    const Program program = record(gpu, kind);
    std::vector<float> result = program({x})[0].read();
    const std::uint64_t before = gpu.memory().bytes_in_use;
    gpu.reset_stats();
    program({x})[0].compute();
    return {std::move(result), gpu.memory().bytes_peak - before};
  }
};
TESSERA_ON_EACH_BACKEND(TakingTurns);

TEST_P(TakingTurns, LeavesLittleMoreThanIsAliveAtATime) {
  if (GetParam().backend == BackendKind::cpu) GTEST_SKIP() << "the oracle has a storage for each size";
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    Context gpu = open(GetParam());
    const Tensor x = gpu.tensor(kind.input, input(kind)).compute();
    const Program program = record(gpu, kind);
    const Alone alone = this->alone(kind);
    const std::vector<float> result = program({x})[0].read();
    EXPECT_EQ(result, alone.result);
    EXPECT_TRUE(all_agree(result, expected(kind), 1e-3f));
    const std::uint64_t kept = gpu.memory().bytes_in_use, pooled = gpu.memory().bytes_pooled;
    for (int i = 0; i < 3; ++i) {
      program({x})[0].compute();
      EXPECT_EQ(gpu.memory().bytes_in_use, kept);
      EXPECT_EQ(gpu.memory().bytes_pooled, pooled) << "a further run has allocated";
    }
    const auto live = static_cast<double>(alone.largest_live_set);
    const double most = GetParam().backend == BackendKind::gles ? kind.most_on_gles : 1.3;
    EXPECT_LE(static_cast<double>(pooled), most * live);
    RecordProperty(kind.name, std::to_string(static_cast<double>(pooled) / live));
  }
}

// A storage has had other results before, and larger ones.
TEST_P(TakingTurns, NeverReadsWhatOthersLeft) {
  Context gpu = open(GetParam());
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Program program = record(gpu, kind);
    const std::vector<float> nothing(static_cast<std::size_t>(kind.input.size()),
                                     std::numeric_limits<float>::quiet_NaN());
    program({gpu.tensor(kind.input, nothing)})[0].compute();
    EXPECT_TRUE(all_agree(program({gpu.tensor(kind.input, input(kind))})[0].read(), expected(kind), 1e-3f));
  }
}

// In rows of the image's own width, whatever else has been in the storage.
TEST_P(TakingTurns, PixelsAreReadAsElementsToo) {
  Context gpu = open(GetParam());
  for (const auto& [height, width] : {std::pair{3, 6}, {5, 9}, {20, 31}, {7, 130}, {40, 300}}) {
    SCOPED_TRACE(std::to_string(height) + " x " + std::to_string(width));
    const auto body = [height = height, width = width](std::span<const Tensor> x) {
      const Tensor row = flatten(resize_bilinear(x[0], height, width));
      const std::int64_t columns = 5, elements = height * width * 3 / columns * columns;
      const Tensor parts = concat({slice(row, {7}, {elements}), slice(row, {3}, {elements})});
      return std::vector{leaky_relu(parts),
                         tile(triangle(parts.reshape({2 * elements / columns, columns}), Triangle::upper), {1, 3})};
    };
    const TensorSpec spec{{4, 7, 4}};
    const std::vector<float> values = random_values(4 * 7 * 4, -1, 1, 7);
    const Program program = Program::record(gpu, {spec}, body);
    for (int run = 0; run < 2; ++run) {
      const std::vector<Tensor> got = program.run({gpu.tensor(spec.shape, values)});
      const std::vector<Tensor> want = body({{cpu_context().tensor(spec.shape, values)}});
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(all_agree(got[i].read(), want[i].read(), 1e-5f)) << i;
    }
  }
}

TEST_P(TakingTurns, RunsInSlicesGiveTheSame) {
  Context gpu = open(GetParam());
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Program program = record(gpu, kind);
    testing::set_costs(program, {1});
    const Tensor x = gpu.tensor(kind.input, input(kind));
    const std::vector<float> whole = program({x})[0].read();
    const SlicedRun run = program.start({x});
    while (!run.advance(SlicedRun::Budget(2))) gpu.full({1000}, 1).compute();
    EXPECT_EQ(run.results()[0].read(), whole);
    EXPECT_EQ(program({x})[0].read(), whole);
  }
}

TEST_P(TakingTurns, TiersGiveTheSame) {
  if (GetParam().backend == BackendKind::cpu) GTEST_SKIP() << "the host has no tiers";
  ContextOptions with_tiers = options();
  with_tiers.tuning = Tuning::eager;
  Context gpu = Context::create(with_tiers);
  testing::take_all_tiers(gpu);
  testing::try_only(gpu, testing::Tried::tiers);
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Program program = record(gpu, kind);
    const Tensor x = gpu.tensor(kind.input, input(kind));
    const std::vector<float> before = program({x})[0].read();
    for (int i = 0; i < 3; ++i) program({x})[0].compute();
    testing::finish_tiers(gpu);
    EXPECT_TRUE(all_agree(program({x})[0].read(), before, 1e-4f));
  }
}

}  // namespace
}  // namespace tessera::test::taking_turns_test
