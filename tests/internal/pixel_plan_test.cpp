// What kernels on images read, and what goes along from one to the next.
#include "core/run/pixel_plan.h"

#include <gtest/gtest.h>

#include "core/interop/interop.h"
#include "core/run/context_impl.h"
#include <tessera/tessera.h>

namespace tessera::test::pixel_plan_test {
namespace {

class PixelPlans : public ::testing::Test {
 protected:
  // The number of images that each kernel reads, the last one's first.
  std::vector<std::size_t> inputs_of_kernels(const Tensor& tensor) {
    constexpr PixelLimits pixels{
        .max_side = 8192, .max_half_side = 8192, .max_inputs = 8, .max_outputs = 4, .stores_elements = true};
    constexpr Limits limits{.max_inputs = 8, .max_words = 1024, .workgroups = true, .pixels = pixels};
    const LockedContext locked(context);
    const std::vector<Wanted> wanted{{TensorAccess::node(*locked, tensor)}};
    std::vector<std::size_t> inputs;
    for (const Step& step : plan_pixels(make_graph(*locked, wanted, limits), limits).steps)
      inputs.push_back(step.inputs.size());
    return inputs;
  }

  Context context = Context::create({.prefer = {BackendKind::cpu}});
  Tensor frame = context.full({48, 64, 4}, 0.5f).compute();
  Tensor colours = slice(frame, {0, 0, 0}, {48, 64, 3});
  Tensor alpha = slice(frame, {0, 0, 3}, {48, 64, 1});
};

// Each blur is two kernels; the last one has nothing to read but what the one before it stored.
TEST_F(PixelPlans, AlphaGoesAlongWithThreeChannels) {
  const std::vector<std::size_t> one_each{1, 1, 1, 1};
  EXPECT_EQ(inputs_of_kernels(concat({gaussian_blur(gaussian_blur(colours, 4), 4), alpha}, 2)), one_each);
  EXPECT_EQ(inputs_of_kernels(concat({gaussian_blur(gaussian_blur(colours, 4), 4), alpha * 0.5f}, 2)), one_each);
}

TEST_F(PixelPlans, AnythingElseIsReadWhereItIs) {
  const Tensor soft = gaussian_blur(colours, 4);
  const std::vector<std::size_t> two_at_the_end{2, 1};
  EXPECT_EQ(inputs_of_kernels(concat({soft + colours, alpha}, 2)), two_at_the_end);         // other channels
  EXPECT_EQ(inputs_of_kernels(concat({soft, flip_left_right(alpha)}, 2)), two_at_the_end);  // other pixels
  EXPECT_EQ(inputs_of_kernels(concat({slice(soft, {1, 0, 0}, {47, 64, 3}), slice(alpha, {0, 0, 0}, {47, 64, 1})}, 2)),
            two_at_the_end);
  const Tensor other = context.full({48, 64, 4}, 0.25f).compute();  // which the kernel before does not read
  EXPECT_EQ(inputs_of_kernels(concat({soft, slice(other, {0, 0, 3}, {48, 64, 1})}, 2)), two_at_the_end);
}

}  // namespace
}  // namespace tessera::test::pixel_plan_test
