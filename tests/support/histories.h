// What frames leave for later frames, by the same checks on each backend.
#pragma once
#include <functional>
#include <vector>

#include <gmock/gmock.h>

#include "support/devices.h"
#include <tessera/tessera.h>

namespace tessera::test {

struct HistoryHost {
  Context& gpu;
  std::function<Tensor()> frame;  // [2,4,3] from the host's texture, of 1 everywhere
  std::function<void(const Tensor&, const std::vector<Tensor>&)> show;  // with tensors that are also computed
};

// A mean over time, whose history has three channels. Each frame is one pass; the elements are there for everybody
// else.
inline void expect_history_of_three_channels(const HistoryHost& host, DType dtype) {
  SCOPED_TRACE(to_string(dtype));
  Context& gpu = host.gpu;
  const auto next_of = [&](const Tensor& frame, const Tensor& before) {
    return (frame * 0.5f + before.cast(DType::f32) * 0.5f).cast(dtype);
  };
  const Program program =
      Program::record(gpu, {{.shape = {2, 4, 3}}, {.shape = {2, 4, 3}, .dtype = dtype}},
                      [&](std::span<const Tensor> in) { return std::vector{next_of(in[0], in[1])}; });
  for (const bool is_recorded : {false, true}) {
    Tensor history = gpu.zeros({2, 4, 3}, dtype).compute();
    for (const float expected : {0.5f, 0.75f, 0.875f}) {
      const Tensor next = is_recorded ? program({host.frame(), history})[0] : next_of(host.frame(), history);
      gpu.reset_stats();
      host.show(next, {next});
      EXPECT_EQ(gpu.stats().dispatches, 1u);
      EXPECT_TRUE(next.is_computed());
      history = next;
      if (expected == 0.75f) {
        EXPECT_THAT(sum(history.cast(DType::f32)).read(), ::testing::ElementsAre(0.75f * 24));
      }
    }
    // A part of it, by way of a view.
    EXPECT_THAT(slice(history.reshape({24}), {5}, {9}).cast(DType::f32).read(), ::testing::Each(0.875f));
    gpu.reset_stats();
    EXPECT_THAT(history.cast(DType::f32).read(), ::testing::Each(0.875f));
    EXPECT_EQ(history.compute().cast(DType::f32).read().size(), 24u);
    gpu.reset_stats();
    history.compute();
    EXPECT_EQ(gpu.stats().dispatches, 0u);  // the elements stay
    const Tensor later = is_recorded ? program({host.frame(), history})[0] : next_of(host.frame(), history);
    host.show(later, {later});
    EXPECT_THAT(later.cast(DType::f32).read(), ::testing::Each(0.9375f));
  }
}

}  // namespace tessera::test
