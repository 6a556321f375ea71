// Variants (Tuning): products and convolutions by other kernels than the usual ones.
#include <atomic>
#include <fstream>

#include "support/compare.h"
#include "support/devices.h"
#include "support/temporary_folder.h"
#include <tessera/testing.h>

namespace tessera::test::variants_test {
namespace {

class Variants : public OnDevice {
 protected:
  Context start(ContextOptions options = {.tuning = Tuning::eager}) const {
    options.prefer = {GetParam().backend};
    options.driver = GetParam().driver;
    if (!options.on_message) options.message_level = Message::Level::error;
    Context gpu = Context::create(options);
    testing::try_only(gpu, testing::Tried::variants);
    return gpu;
  }
  // Takes the last variant that gives the right results, faster or not.
  Context start_taking(ContextOptions options = {.tuning = Tuning::eager}) const {
    Context gpu = start(std::move(options));
    testing::take_all_tiers(gpu);
    return gpu;
  }
};
TESSERA_ON_GPU_DEVICES(Variants);

Tensor numbers(Context& context, const Shape& shape, std::uint32_t seed) {
  return context.tensor(shape, random_values(static_cast<std::size_t>(shape.size()), -1, 1, seed));
}

// Sizes around those of blocks and tiles, operands in every order, each type, with work before and after.
std::vector<Tensor> products_on(Context& context) {
  const auto of = [&](const Shape& shape, std::uint32_t seed) { return numbers(context, shape, seed); };
  const auto bytes = [&](const Shape& shape, std::uint32_t seed) { return (of(shape, seed) * 100.0f).cast(DType::i8); };
  return {matmul(of({32, 521}, 1), of({521, 33}, 2)),
          matmul(of({1, 300}, 3), of({300, 64}, 4)),
          relu(matmul(of({37, 29}, 5), of({29, 44}, 6)) + of({44}, 7)) * 0.5f,
          matmul(of({3, 65, 128}, 8), of({128, 36}, 9)),
          matmul(of({70, 19}, 10), of({70, 24}, 11), {.transpose_a = true}),
          matmul(of({21, 68}, 12), of({40, 68}, 13), {.transpose_b = true}),
          matmul(of({3, 5, 70}, 14), of({3, 70, 6}, 15)),
          matmul(of({33, 80}, 16).cast(DType::f16), of({80, 32}, 17).cast(DType::f16)).cast(DType::f32),
          matmul(bytes({12, 264}, 18), bytes({264, 20}, 19)).cast(DType::f32),
          matmul(slice(of({40, 90}, 20), {3, 5}, {34, 77}), of({77, 16}, 21)),
          tanh(matmul(of({3, 9, 40}, 22), of({3, 40, 11}, 23)) * 0.25f + of({11}, 24)) + of({3, 9, 11}, 25),
          matmul(of({13, 24}, 26), of({15, 24}, 27), {.transpose_b = true})};
}

std::vector<Tensor> convolutions_on(Context& context) {
  const auto of = [&](const Shape& shape, std::uint32_t seed) { return numbers(context, shape, seed); };
  return {relu(conv2d(of({2, 9, 11, 8}, 1), of({3, 3, 8, 16}, 2), {.padding = Padding::same}) + of({16}, 3)),
          conv2d(of({1, 13, 12, 3}, 4), of({3, 3, 3, 20}, 5), {.strides = {2, 2}, .padding = Padding::same}),
          conv2d(of({1, 7, 9, 4}, 6), of({5, 3, 4, 8}, 7), {.dilations = {1, 2}, .padding = Padding::same}),
          conv2d(of({1, 10, 11, 8}, 8), of({3, 3, 1, 8}, 9), {.padding = Padding::same, .groups = 8}),
          conv2d(of({1, 6, 5, 16}, 10), of({3, 3, 8, 32}, 11), {.groups = 2}),
          conv2d(of({1, 9, 7, 12}, 12), of({1, 1, 12, 24}, 13)),
          conv2d(of({1, 8, 8, 5}, 14), of({3, 3, 5, 7}, 15), {.padding = Padding::same})};
}

// Of three by three taps, a pixel apart, which can be made in tiles of two by two pixels: odd sizes, single pixels,
// batches, each padding, channels that fill texels and that do not, with work before and after.
std::vector<Tensor> convolutions_in_tiles_on(Context& context) {
  const auto of = [&](const Shape& shape, std::uint32_t seed) { return numbers(context, shape, seed); };
  const auto halves = [&](const Shape& shape, std::uint32_t seed) { return of(shape, seed).cast(DType::f16); };
  const Conv2d same{.padding = Padding::same};
  return {
      conv2d(of({1, 3, 3, 4}, 1), of({3, 3, 4, 8}, 2)),
      conv2d(of({2, 1, 1, 8}, 3), of({3, 3, 8, 16}, 4), same),
      conv2d(of({3, 4, 5, 9}, 5), of({3, 3, 9, 17}, 6)),
      conv2d(of({2, 6, 9, 6}, 7), of({3, 3, 6, 40}, 8), {.pads = {{0, 2, 3, 1}}}),
      conv2d(of({1, 1, 2, 3}, 9), of({3, 3, 3, 5}, 10), {.pads = {{5, 0, 1, 4}}}),
      tanh(conv2d(of({2, 9, 11, 8}, 11), of({3, 3, 8, 16}, 12), same) * 0.25f + of({16}, 13)) + of({2, 9, 11, 16}, 14),
      relu(conv2d(of({1, 13, 6, 5}, 15), of({3, 3, 5, 7}, 16), same) + of({7}, 17)),
      relu(conv2d(of({1, 6, 70, 3}, 18), of({3, 3, 3, 33}, 19)) + of({33}, 20)) * of({1, 4, 68, 33}, 21),
      conv2d(slice(of({4, 7, 8, 20}, 22), {1, 0, 0, 0}, {2, 7, 8, 20}), of({3, 3, 20, 36}, 23), same),
      conv2d(slice(of({2, 7, 8, 5}, 24), {1, 1, 0, 0}, {1, 6, 8, 5}), of({3, 3, 5, 20}, 25), same),
      conv2d(conv2d(of({1, 12, 9, 6}, 26), of({3, 3, 6, 12}, 27), same), of({3, 3, 12, 6}, 28), same) * 0.1f,
      relu(conv2d(halves({1, 9, 10, 12}, 29), halves({3, 3, 12, 16}, 30), same)).cast(DType::f32) * 0.01f,
      conv2d(halves({1, 5, 6, 3}, 31), halves({3, 3, 3, 6}, 32)).cast(DType::f32) * 0.01f};
}

// Counts the kernels that a context tells of whose names begin with this and have another part.
class KernelCount {
 public:
  explicit KernelCount(const std::string& start, std::string part = "")
      : start_("kernel " + start), part_(std::move(part)) {}
  ContextOptions options() {
    return {.on_message = [this](const Message& message) { note(message.text); },
            .message_level = Message::Level::debug,
            .tuning = Tuning::eager};
  }
  int count() const { return count_; }

 private:
  void note(const std::string& text) {
    const std::size_t start = text.find(start_);
    if (start != std::string::npos && text.find(part_, start) != std::string::npos) ++count_;
  }
  const std::string start_, part_;
  std::atomic<int> count_ = 0;
};

std::vector<std::vector<float>> read_all(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<float>> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.read());
  return values;
}

void expect_agreement(const std::vector<std::vector<float>>& got, const std::vector<std::vector<float>>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    SCOPED_TRACE(i);
    const bool is_half = i == 7 && want.size() == 12;  // see products_on()
    EXPECT_TRUE(all_agree(got[i], want[i], is_half ? 2e-2f : 1e-4f));
  }
}

// Of no step are there more.
constexpr std::size_t most_variants = 9;

TEST_P(Variants, AllGiveTheSameProducts) {
  Context gpu = start();
  const auto want = read_all(products_on(cpu_context()));
  std::size_t numbers_with_kernels = 0;  // of their own
  for (std::size_t number = 0; number < most_variants; ++number) {
    SCOPED_TRACE(number);
    const std::uint64_t before = gpu.stats().kernels_compiled;
    testing::take_variants(gpu, number);
    expect_agreement(read_all(products_on(gpu)), want);
    if (gpu.stats().kernels_compiled > before) ++numbers_with_kernels;
  }
  EXPECT_GE(numbers_with_kernels, 3u);
  EXPECT_EQ(gpu.stats().variants_tried, 0u);
}

TEST_P(Variants, AllGiveTheSameConvolutions) {
  Context gpu = start();
  const auto want = read_all(convolutions_on(cpu_context()));
  std::size_t numbers_with_kernels = 0;
  for (std::size_t number = 0; number < most_variants; ++number) {
    SCOPED_TRACE(number);
    const std::uint64_t before = gpu.stats().kernels_compiled;
    testing::take_variants(gpu, number);
    expect_agreement(read_all(convolutions_on(gpu)), want);
    if (gpu.stats().kernels_compiled > before) ++numbers_with_kernels;
  }
  EXPECT_GE(numbers_with_kernels, 2u);
}

TEST_P(Variants, AllGiveTheSameConvolutionsInTiles) {
  KernelCount winograd("winograd_result");
  Context gpu = start(winograd.options());
  const auto want = read_all(convolutions_in_tiles_on(cpu_context()));
  for (std::size_t number = 0; number < most_variants; ++number) {
    SCOPED_TRACE(number);
    testing::take_variants(gpu, number);
    expect_agreement(read_all(convolutions_in_tiles_on(gpu)), want);
    if (number == 0) {
      EXPECT_EQ(winograd.count(), 0) << "no rule takes it";
    }
  }
  EXPECT_GE(winograd.count(), 5) << "with the work that follows";
}

TEST_P(Variants, MayBeConvolutionsInTiles) {
  KernelCount winograd("winograd_result", "relu");
  Context gpu = start_taking(winograd.options());
  const auto of = [](Context& context) {
    return relu(conv2d(numbers(context, {1, 11, 14, 8}, 1), numbers(context, {3, 3, 8, 16}, 2)) +
                numbers(context, {16}, 3));
  };
  const std::vector<float> want = of(cpu_context()).read();
  for (int run = 0; run < 10; ++run) EXPECT_TRUE(all_agree(of(gpu).read(), want, 1e-4f));
  testing::finish_tiers(gpu);
  EXPECT_TRUE(all_agree(of(gpu).read(), want, 1e-4f));
  EXPECT_EQ(winograd.count(), 1) << "it comes last";
}

// A layer and a convolution, whose variants are tried.
const std::vector<TensorSpec> input_specs{{{24, 160}}, {{1, 12, 16, 8}}};

Program recorded(Context& context) {
  const Tensor weights = numbers(context, {160, 40}, 1), bias = numbers(context, {40}, 2);
  const Tensor filter = numbers(context, {3, 3, 8, 16}, 3);
  return Program::record(context, input_specs, [&](std::span<const Tensor> in) {
    return std::vector{relu(matmul(in[0], weights) + bias), conv2d(in[1], filter, {.padding = Padding::same})};
  });
}

std::vector<Tensor> inputs_on(Context& context) {
  return {numbers(context, input_specs[0].shape, 4), numbers(context, input_specs[1].shape, 5)};
}

TEST_P(Variants, AreTriedAndRemembered) {
  const TemporaryFolder folder;
  const auto want = read_all(recorded(cpu_context()).run(inputs_on(cpu_context())));
  std::vector<std::vector<float>> last;
  for (const char* start : {"first", "second", "after damage"}) {
    SCOPED_TRACE(start);
    const bool is_second = start == std::string("second");
    Context gpu = start_taking({.cache_dir = folder.path(), .tuning = Tuning::eager});
    const Program program = recorded(gpu);
    const std::vector<Tensor> inputs = inputs_on(gpu);
    const auto first = read_all(program.run(inputs));
    expect_agreement(first, want);
    if (is_second) {
      EXPECT_EQ(first, last);
    }
    for (int run = 0; run < 2; ++run) read_all(program.run(inputs));
    testing::finish_tiers(gpu);
    const Stats tried = gpu.stats();
    EXPECT_EQ(tried.variants_remembered, is_second ? 2u : 0u);
    EXPECT_EQ(tried.variants_taken, is_second ? 0u : 2u);
    EXPECT_EQ(tried.variants_tried == 0, is_second);

    // What was taken is compiled before a run needs it.
    last = read_all(program.run(inputs));
    expect_agreement(last, want);
    EXPECT_EQ(gpu.stats().kernels_compiled, tried.kernels_compiled);
    gpu.close();
    if (is_second)
      for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
        if (entry.is_regular_file()) std::ofstream(entry.path(), std::ios::binary) << "not a choice";
  }
}

TEST_P(Variants, AreMeasured) {
  Context gpu = start();
  const Tensor a = numbers(gpu, {32, 2048}, 1), b = numbers(gpu, {2048, 33}, 2);
  const auto want = matmul(numbers(cpu_context(), {32, 2048}, 1), numbers(cpu_context(), {2048, 33}, 2)).read();
  for (int run = 0; run < 10; ++run) EXPECT_TRUE(all_agree(matmul(a, b).read(), want, 1e-4f));
  testing::finish_tiers(gpu);
  const Stats measured = gpu.stats();
  EXPECT_GE(measured.variants_tried, 1u);
  EXPECT_LE(measured.variants_taken, 1u);
  for (int run = 0; run < 10; ++run) EXPECT_TRUE(all_agree(matmul(a, b).read(), want, 1e-4f));
  testing::finish_tiers(gpu);
  EXPECT_EQ(gpu.stats().variants_tried, measured.variants_tried);
  EXPECT_EQ(gpu.stats().kernels_compiled, measured.kernels_compiled);
}

TEST_P(Variants, CanBeOff) {
  Context gpu = start_taking({.tuning = Tuning::off});
  const Program program = recorded(gpu);
  const std::vector<Tensor> inputs = inputs_on(gpu);
  for (int run = 0; run < 4; ++run) program.run(inputs);
  testing::finish_tiers(gpu);
  EXPECT_EQ(gpu.stats().variants_tried + gpu.stats().variants_taken, 0u);
}

TEST_P(Variants, SurviveALostDevice) {
  const auto want = read_all(recorded(cpu_context()).run(inputs_on(cpu_context())));
  Context gpu = start_taking();
  const Program program = recorded(gpu);
  const std::vector<Tensor> inputs = inputs_on(gpu);
  for (int round = 0; round < 3; ++round) {
    for (int run = 0; run < 2; ++run) read_all(program.run(inputs));
    if (round > 0) testing::finish_tiers(gpu);
    testing::lose_device(gpu);
    testing::finish_tiers(gpu);
    expect_agreement(read_all(program.run(inputs)), want);
  }
  EXPECT_EQ(gpu.stats().device_losses, 3u);
  EXPECT_GT(gpu.stats().variants_taken, 0u);
}

TEST_P(Variants, TakeNoMoreMemoryThanThereIs) {
  Context gpu = start_taking({.memory_budget = 200'000, .tuning = Tuning::eager});
  const Tensor a = numbers(gpu, {64, 256}, 1), b = numbers(gpu, {256, 64}, 2);
  for (int run = 0; run < 4; ++run) matmul(a, b).read();
  testing::finish_tiers(gpu);
  EXPECT_EQ(gpu.stats().variants_tried, 0u);
}

}  // namespace
}  // namespace tessera::test::variants_test
