// Work on images, as pixel kernels do it, against the CPU, which does one operation after the other.
#include <array>
#include <functional>
#include <span>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::pixels_test {
namespace {

class Pixels : public OnDevice {
 protected:
  using Work = std::function<std::vector<Tensor>(Context&, const Tensor&)>;

  // Images of many sizes and channels, through `work`, here and on the CPU.
  void expect_as_on_cpu(const Work& work, float tolerance = 1e-5f,
                        std::span<const std::int64_t> channel_counts = std::array<std::int64_t, 3>{1, 3, 4}) {
    constexpr std::pair<std::int64_t, std::int64_t> sizes[] = {{1, 1}, {6, 1}, {5, 9}};
    Context cpu = Context::create({.prefer = {BackendKind::cpu}});
    for (const auto& [height, width] : sizes)
      for (const std::int64_t channels : channel_counts) {
        const std::vector<float> values = random_values(static_cast<std::size_t>(height * width * channels), 0, 1, 7);
        const Shape shape{height, width, channels};
        const std::vector<Tensor> here = work(context(), context().tensor(shape, values)),
                                  there = work(cpu, cpu.tensor(shape, values));
        for (std::size_t i = 0; i < here.size(); ++i)
          EXPECT_TRUE(all_agree(here[i].cast(DType::f32).read(), there[i].cast(DType::f32).read(), tolerance))
              << "result " << i << " of " << shape.to_string();
      }
  }
};

TEST_P(Pixels, FiltersWithWorkBeforeAndAfter) {
  for (const Border border : {Border::zero, Border::edge, Border::reflect})
    expect_as_on_cpu([&](Context&, const Tensor& x) {
      const std::vector<float> small{0.25f, 0.5f, 0.25f}, wide{0.1f, 0, 0.2f, 0.4f, 0.2f, 0, 0.1f};
      const Tensor soft = separable_filter(x * 2.0f - 0.5f, small, small, border);
      const Tensor softer = separable_filter(soft, wide, wide, border);
      return std::vector{x + (x - soft) * 1.5f, softer, sqrt(square(soft) + square(softer))};
    });
}

TEST_P(Pixels, GradientsAndTheirSize) {
  expect_as_on_cpu([](Context&, const Tensor& x) {
    const Gradient gradient = sobel(mean(x, {.axes = {2}, .keep_dims = true}), Border::edge);
    return std::vector{gradient.x, gradient.y, sqrt(square(gradient.x) + square(gradient.y))};
  });
}

// Costly kernels, of which drivers compile one for each number of channels: each number meets some of the options.
TEST_P(Pixels, OtherSizesAndBack) {
  struct Case {
    Resize options;
    std::vector<std::int64_t> channels;
  };
  const Resize corners{.mode = Interpolation::bilinear, .coordinates = Coordinates::align_corners};
  for (const auto& [options, channels] :
       {Case{{.mode = Interpolation::nearest}, {1, 3}}, Case{{.mode = Interpolation::bilinear}, {1, 3, 4}},
        Case{{.mode = Interpolation::cubic}, {3}}, Case{corners, {4}}})
    expect_as_on_cpu(
        [&options = options](Context&, const Tensor& x) {
          const std::int64_t height = x.shape()[0], width = x.shape()[1];
          const Tensor larger = resize(x, 2 * height, 4 * width, options),
                       other = resize(x, height + 2, width + 3, options);
          return std::vector{larger * 2.0f, x + resize(relu(other - 0.5f), height, width, options)};
        },
        1e-5f, channels);
}

TEST_P(Pixels, WorkThatIsTheSameBetweenPixels) {
  expect_as_on_cpu([](Context& context, const Tensor& x) {
    const std::int64_t channels = x.shape()[2], height = x.shape()[0] * 2 + 1, width = x.shape()[1] + 2;
    const Tensor mean = context.tensor({channels}, std::vector<float>(static_cast<std::size_t>(channels), 0.4f));
    const Tensor bytes = (x * 255.0f).cast(DType::u8);
    const auto other_size = [&](const Tensor& image) { return resize_bilinear(image, height, width); };
    return std::vector{other_size((bytes.cast(DType::f32) * (1.0f / 255) - mean) / 0.25f) * 2.0f, other_size(1.0f - x),
                       other_size(-(0.5f * x) + mean), other_size(2.0f / (x + 1.0f))};  // the last one is not
  });
}

TEST_P(Pixels, TurnedAndMoved) {
  for (const Interpolation mode : {Interpolation::nearest, Interpolation::bilinear})
    expect_as_on_cpu([&](Context&, const Tensor& x) {
      const Tensor moved =
          affine_transform(x * 2.0f, {1, 0.25f, -0.5f, 0.125f, 1, 0.25f}, {.mode = mode, .fill = {0.5f}});
      return std::vector{moved + 1.0f, gaussian_blur(moved, 0.4f)};
    });
}

TEST_P(Pixels, NeighboursByPaddingAndSlicing) {
  for (const PadMode mode : {PadMode::edge, PadMode::constant})
    expect_as_on_cpu([&](Context&, const Tensor& x) {
      const std::int64_t height = x.shape()[0], width = x.shape()[1], channels = x.shape()[2];
      const Tensor wider = pad(x, {{0, 2}, {1, 2}, {0, 0}}, mode, 0.25);
      Tensor total = x;
      for (int y = 0; y <= 2; ++y)
        for (int k = 0; k <= 3; ++k) {
          const Tensor neighbour = slice(wider, {y, k, 0}, {height, width, channels});
          total = total + neighbour * exp(square(neighbour - x) * -3.0f);
        }
      return std::vector{total, flip_up_down(flip_left_right(gaussian_blur(total, 0.5f)))};
    });
}

TEST_P(Pixels, ChannelsComeAndGo) {
  expect_as_on_cpu([](Context& gpu, const Tensor& x) {
    const std::int64_t channels = x.shape()[2];
    const Tensor soft = gaussian_blur(x, 0.4f);
    const Tensor light = max(soft, {.axes = {2}, .keep_dims = true});
    std::vector<Tensor> results{soft / (light + 0.5f), min(soft, {.axes = {2}}), prod(soft, {.axes = {2}})};
    if (channels < 4) results.push_back(concat({soft, light}, 2));
    if (channels == 3) {
      results.push_back(colour_matrix(soft, gpu.tensor({4, 3}, random_values(12, -1, 1, 3))));
      results.push_back(colour_lookup(soft, gpu.tensor({3, 3, 3, 3}, random_values(81, 0, 1, 5))));
      const Nv12 planes = rgb_to_nv12(soft);
      results.insert(results.end(), {planes.y, planes.uv, nv12_to_rgb(planes.y, planes.uv)});
    }
    return results;
  });
}

// The fourth channel goes along with three that are stored in between, or is read again.
TEST_P(Pixels, AlphaIsKept) {
  const auto work = [](Context&, const Tensor& x) {
    const Tensor colours = slice(x, {0, 0, 0}, {-1, -1, 3}), alpha = slice(x, {0, 0, 3}, {-1, -1, 1});
    const Tensor soft = gaussian_blur(gaussian_blur(colours, 3), 3), twice = soft * 2.0f;
    return std::vector{concat({soft, alpha}, 2), concat({twice * alpha, alpha}, 2),
                       concat({soft, flip_left_right(alpha)}, 2), concat({alpha, twice}, 2),
                       concat({exp(soft + colours), clip(alpha * 2.0f, 0, 1)}, 2)};
  };
  expect_as_on_cpu(work, 1e-5f, std::array<std::int64_t, 1>{4});
  const auto each = [&](std::size_t result) {  // by itself
    expect_as_on_cpu([&](Context& gpu, const Tensor& x) { return std::vector{work(gpu, x)[result]}; }, 1e-5f,
                     std::array<std::int64_t, 1>{4});
  };
  for (std::size_t result = 0; result < 5; ++result) each(result);
}

// Beside a filter, so that pixel kernels do it.
TEST_P(Pixels, ConvolutionsOfFewChannels) {
  expect_as_on_cpu([](Context& gpu, const Tensor& x) {
    const std::int64_t channels = x.shape()[2];
    const Tensor image = x.reshape({1, x.shape()[0], x.shape()[1], channels}) * 2.0f;
    const auto weights = [&](const Shape& shape) {
      return gpu.tensor(shape, random_values(static_cast<std::size_t>(shape.size()), -1, 1, 11));
    };
    return std::vector{
        gaussian_blur(x, 0.5f), conv2d(image, weights({3, 3, channels, 4}), {.padding = Padding::same}),
        relu(conv2d(image, weights({2, 3, channels, 2}),
                    {.strides = {2, 1}, .dilations = {1, 2}, .padding = Padding::same}) +
             0.25f),
        conv2d(image, weights({1, 2, 1, channels}) * 2.0f, {.padding = Padding::same, .groups = channels}),
        conv2d(image, weights({1, 1, channels, 3}), {.strides = {2, 3}, .padding = Padding::valid})};
  });
}

// Two of one image, and a product of pixels, without any other work on images; those with many taps stay apart.
std::vector<Tensor> edges_by_convolutions(Context& gpu, const Tensor& x) {
  const auto weights = [&](const Shape& shape, unsigned seed) {
    return gpu.tensor(shape, random_values(static_cast<std::size_t>(shape.size()), -1, 1, seed)).compute();
  };
  const std::int64_t channels = x.shape()[2];
  const Tensor image = x.reshape({1, x.shape()[0], x.shape()[1], channels});
  const Conv2d each{.padding = Padding::same, .groups = channels};
  const Tensor soft = conv2d(image, weights({5, 5, 1, channels}, 1), each);
  const Tensor across = conv2d(soft, weights({3, 3, 1, channels}, 2), each),
               down = conv2d(soft, weights({3, 3, 1, channels}, 3), each);
  return {soft, clip(conv2d(sqrt(square(across) + square(down)), weights({1, 1, channels, channels}, 4)), 0, 1),
          conv2d(image + 1.0f, weights({3, 3, channels, channels}, 5), {.padding = Padding::same}) -
              conv2d(image + 1.0f, weights({1, 3, channels, channels}, 6), {.padding = Padding::same})};
}

TEST_P(Pixels, ConvolutionsByThemselves) { expect_as_on_cpu(edges_by_convolutions); }

TEST_P(Pixels, EveryTypeKeepsToItself) {
  for (const DType dtype : {DType::f16, DType::u8})
    expect_as_on_cpu(
        [&](Context&, const Tensor& x) {
          const Tensor bytes = (x * 200.0f).cast(dtype);
          const std::vector<float> weights{0.25f, 0.5f, 0.25f};
          return std::vector{separable_filter(bytes, weights, weights, Border::edge),
                             resize_bilinear(bytes, x.shape()[0] + 1, 2 * x.shape()[1])};
        },
        1.01f);
}

// Two filters of three taps and all that is done with them are one kernel; those of many taps are two.
TEST_P(Pixels, AsFewKernelsAsOneWouldWrite) {
  if (context().device().backend == BackendKind::cpu) GTEST_SKIP() << "which has no pixel kernels";
  const Tensor x = context().tensor({40, 30, 4}, random_values(4800, 0, 1, 1)).compute();
  const auto kernels = [&](const Tensor& result) {
    context().reset_stats();
    result.compute();
    return context().stats().dispatches;
  };
  const std::vector<float> small{0.25f, 0.5f, 0.25f}, wide(9, 1.0f / 9);
  EXPECT_EQ(kernels(clip(x + (x - separable_filter(x * 2.0f, small, small)) * 1.5f, 0, 1)), 1u);
  EXPECT_EQ(kernels(1.0f - separable_filter(x * 2.0f, wide, wide)), 2u);
  const Gradient gradient = sobel(mean(x, {.axes = {2}, .keep_dims = true}));
  EXPECT_EQ(kernels(sqrt(square(gradient.x) + square(gradient.y))), 1u);
  const Tensor edges = edges_by_convolutions(context(), x)[1];
  const std::uint64_t blurring = kernels(edges_by_convolutions(context(), x)[0]);
  EXPECT_EQ(kernels(edges), blurring + 1);
  context().reset_stats();
  const Gradient both = sobel(x);
  context().compute(std::vector{both.x, both.y});
  EXPECT_EQ(context().stats().dispatches, 1u);
}

Program half_or_full(Context& context, const Shape& shape, Precision between,
                     const std::function<std::vector<Tensor>(const Tensor&)>& work) {
  return Program::record(context, {{.shape = shape}}, [&](std::span<const Tensor> in) { return work(in[0]); },
                         {.between = between});
}

// A wide filter is stored between its two directions. Halves have no number near enough to this one.
TEST_P(Pixels, HalvesBetweenKernelsOnRequestOnly) {
  const float number = 1 + 1.0f / 4096;
  const Tensor x = context().tensor({20, 30, 4}, std::vector<float>(2400, number));
  const auto blurred = [&](Precision between) {
    const std::vector<float> wide(9, 1.0f / 9);
    const Program blur = half_or_full(context(), {20, 30, 4}, between, [&](const Tensor& image) {
      return std::vector{separable_filter(image, wide, wide, Border::edge)};
    });
    return blur.run({x})[0].read()[1234];
  };
  const bool has_pixel_kernels = context().device().backend != BackendKind::cpu;
  EXPECT_NEAR(blurred(Precision::full), number, 1e-5f);
  EXPECT_NEAR(blurred(Precision::half), has_pixel_kernels ? 1.0f : number, 1e-5f);
}

// The device's own filter weighs pixels with about 8 bits.
TEST_P(Pixels, HalvesAreFilteredByTheDevice) {
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  for (const std::int64_t channels : {1, 3, 4})
    for (const auto& [height, width] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 7}, {9, 13}}) {
      const Shape shape{height, width, channels};
      const std::vector<float> values = random_values(static_cast<std::size_t>(shape.size()), 0, 1, 7);
      const auto results = [&](Context& context, Precision between) {
        const Tensor table = context.tensor({3, 3, 3, 3}, random_values(81, 0, 1, 5));
        const Program program = half_or_full(context, shape, between, [&](const Tensor& x) {
          const std::vector<float> wide(9, 1.0f / 9);
          const Tensor soft = separable_filter(x, wide, wide, Border::edge);
          const Tensor larger = resize_bilinear(soft, 3 * x.shape()[0], 4 * x.shape()[1]);
          std::vector all{larger * 2.0f, resize_bilinear(x, 2 * x.shape()[0] + 1, x.shape()[1]), soft};
          if (x.shape()[2] > 1) all.push_back(colour_lookup(larger, table));
          return all;
        });
        std::vector<std::vector<float>> read;
        for (const Tensor& result : program.run({context.tensor(shape, values)})) read.push_back(result.read());
        return read;
      };
      const auto exact = results(cpu, Precision::full), full = results(context(), Precision::full),
                 half = results(context(), Precision::half);
      for (std::size_t i = 0; i < exact.size(); ++i) {
        EXPECT_TRUE(all_agree(full[i], exact[i], 1e-5f)) << "result " << i << " of " << shape.to_string();
        EXPECT_TRUE(all_agree(half[i], exact[i], 0.01f)) << "result " << i << " of " << shape.to_string();
      }
    }
}

// Tables lie in volumes, which the device filters across their slices, too.
TEST_P(Pixels, HalvesOfTablesAreFilteredInAllDirections) {
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  const Shape frame{64, 96, 4};
  const std::vector<float> values = random_values(static_cast<std::size_t>(frame.size()), -0.2f, 1.2f, 7);
  for (const std::int64_t entries : {1, 2, 5, 16, 17}) {
    const std::vector<float> colours =
        random_values(static_cast<std::size_t>(3 * entries * entries * entries), 0, 1, 5);
    const auto results = [&](Context& context, Precision between) {
      const Tensor table = context.tensor({entries, entries, entries, 3}, colours);
      const Program program = half_or_full(context, frame, between, [&](const Tensor& x) {
        const Tensor once = colour_lookup(x, table);
        return std::vector{once, colour_lookup(1.0f - once, table)};
      });
      std::vector<std::vector<float>> read;
      for (const Tensor& result : program.run({context.tensor(frame, values)})) read.push_back(result.read());
      return read;
    };
    const auto exact = results(cpu, Precision::full), half = results(context(), Precision::half);
    // Neighbours in a random table are up to 1 apart, and the second lookup has the errors of the first one.
    const auto steep = static_cast<float>(entries);
    EXPECT_TRUE(all_agree(half[0], exact[0], 0.02f)) << entries << " entries";
    EXPECT_TRUE(all_agree(half[1], exact[1], 0.02f * steep)) << entries << " entries, twice";
  }
}

// The table is laid out for the lookup's kernel in the first run. That is the only place where the device has it then,
// and so stays.
TEST_P(Pixels, TablesThatProgramsCaptureAreLaidOutOnce) {
  if (context().device().backend == BackendKind::cpu) GTEST_SKIP() << "There are no pixel kernels on the CPU.";
  const std::vector<float> colours = random_values(81, 0, 1, 5), values = random_values(4800, 0, 1, 7);
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  const std::vector<float> expected =
      colour_lookup(cpu.tensor({40, 40, 3}, values), cpu.tensor({3, 3, 3, 3}, colours)).read();
  const Tensor x = context().tensor({40, 40, 3}, values).compute();
  const Tensor table = context().tensor({3, 3, 3, 3}, colours);
  for (const Precision between : {Precision::half, Precision::full}) {
    const Program lookup = half_or_full(context(), {40, 40, 3}, between,
                                        [&](const Tensor& image) { return std::vector{colour_lookup(image, table)}; });
    const auto kernels_of_run = [&] {
      context().reset_stats();
      EXPECT_TRUE(all_agree(lookup.run({x})[0].read(), expected, between == Precision::half ? 0.01f : 1e-5f));
      return context().stats().dispatches;
    };
    const std::uint64_t kernels = kernels_of_run();
    EXPECT_EQ(kernels_of_run(), kernels - 1);
    context().trim();
    EXPECT_EQ(kernels_of_run(), kernels - 1);
    const std::uint64_t bytes = context().memory().bytes_in_use;
    EXPECT_EQ(kernels_of_run(), kernels - 1);
    EXPECT_EQ(context().memory().bytes_in_use, bytes);
  }
}

// Few numbers of the host's are parameters: others need no other kernel, nor another plan.
TEST_P(Pixels, OtherFewNumbersCompileNothing) {
  const Tensor x = context().tensor({5, 3, 4}, random_values(60, 0, 1, 2)).compute();
  const auto scaled = [&](const std::vector<float>& factors, const std::vector<float>& matrix) {
    return colour_matrix(gaussian_blur(x, 0.5f) * context().tensor({4}, factors), context().tensor({4, 4}, matrix));
  };
  const std::vector<float> matrix = random_values(16, -1, 1, 3);
  scaled({1, 2, 3, 4}, matrix).read();
  const std::vector<float> once = scaled({1, 1, 1, 1}, matrix).read();
  context().reset_stats();
  const std::vector<float> twice = scaled({2, 2, 2, 2}, matrix).read();
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(twice[i], 2 * once[i], 1e-5f) << i;
}

// Kernels know which weights are equal, opposite or 0, and no more.
TEST_P(Pixels, OtherWeightsCompileNothing) {
  const std::vector<float> values = random_values(60, 0, 1, 2);
  const auto filtered = [&](Context& on, float middle, float side) {
    const Tensor x = on.tensor({5, 3, 4}, values);
    const std::vector<float> even{side, middle, 0, middle, side}, odd{-side, middle, side};
    return separable_filter(x, even, odd, Border::edge).read();
  };
  filtered(context(), 0.5f, 0.25f);
  context().reset_stats();
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  for (const auto& [middle, side] : {std::pair{0.3f, 0.7f}, std::pair{-0.4f, 0.6f}})
    EXPECT_TRUE(all_agree(filtered(context(), middle, side), filtered(cpu, middle, side), 1e-5f)) << middle;
  if (context().device().backend != BackendKind::cpu) {
    EXPECT_EQ(context().stats().kernels_compiled, 1u) << "for the other sign of the middle";
  }
}

// More images than a kernel reads: it becomes several, of which each but the last one stores what the next one reads.
TEST_P(Pixels, WorkThatIsTooLargeForAKernelIsSplit) {
  constexpr int images = 40;
  const auto sum = [&](Context& on) {
    Tensor total = separable_filter(on.tensor({5, 3, 3}, random_values(45, 0, 1, 99)), {1, 2, 1}, {1, 2, 1});
    for (unsigned i = 0; i < images; ++i) {
      const Tensor image = on.tensor({5, 3, 3}, random_values(45, 0, 1, i)).compute();
      total = total * 0.9f + resize_bilinear(image, 5, 3);
    }
    return total;
  };
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  const Tensor here = sum(context());
  context().reset_stats();
  EXPECT_TRUE(all_agree(here.read(), sum(cpu).read(), 1e-5f));
  EXPECT_LE(context().stats().dispatches, 16u);
}

TEST_P(Pixels, MoveToOtherDevices) {
  Context moving = open(GetParam());
  const Tensor soft = gaussian_blur(moving.tensor({5, 3, 1}, random_values(15, 0, 1, 2)), 0.5f).compute();
  const std::vector<float> expected = soft.read();
  for (const TestDevice& device : all_devices()) {
    if (is_left_out(device)) continue;
    moving.switch_backend(device.backend, device.driver);
    EXPECT_EQ((soft * 1.0f).read(), expected) << device.name;
  }
}

TESSERA_ON_EACH_BACKEND(Pixels);

}  // namespace
}  // namespace tessera::test::pixels_test
