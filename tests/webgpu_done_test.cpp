// webgpu::when_done
#include <atomic>
#include <future>

#include "support/webgpu_host.h"
#include <tessera/monitor.h>
#include <tessera/testing.h>

namespace tessera::test::webgpu_done_test {
namespace {

class WebGpuDone : public OnDevice {};

TEST_P(WebGpuDone, CallsBackOnceAllIsDone) {
  Context gpu = open(GetParam());
  const Tensor x = gpu.full({300, 300}, 0.5).compute();
  const Tensor y = matmul(x, x).compute();
  std::promise<float> first;
  webgpu::when_done(gpu, [&](bool is_done) {
    EXPECT_TRUE(is_done);
    first.set_value(slice(y, {0, 0}, {1, 1}).read()[0]);  // may call tessera
  });
  EXPECT_EQ(first.get_future().get(), 75.0f);
  std::atomic<int> calls = 0;
  for (int i = 0; i < 5; ++i) webgpu::when_done(gpu, [&](bool) { ++calls; });
  gpu.close();  // waits for them
  EXPECT_EQ(calls, 5);
  EXPECT_TESSERA_ERROR(webgpu::when_done(gpu, [](bool) {}), invalid_argument, "closed");
}

TEST_P(WebGpuDone, OnANewDeviceAndOnOneThatIsLost) {
  Context gpu = Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver});
  (gpu.full({10}, 1) + 1.0f).compute();
  testing::lose_device(gpu);
  std::promise<bool> replaced, lost;
  webgpu::when_done(gpu, [&](bool is_done) { replaced.set_value(is_done); });
  EXPECT_TRUE(replaced.get_future().get());
  Host host(GetParam());
  Context guest = webgpu::adopt(host.handles());
  testing::lose_device(guest);  // nobody replaces a host's device
  webgpu::when_done(guest, [&](bool is_done) { lost.set_value(is_done); });
  EXPECT_FALSE(lost.get_future().get());
}

// An error between two runs of a kind, which are not asked about, comes with the next call, and names the kernel.
TEST_P(WebGpuDone, ErrorsMayComeLater) {
  Context gpu = Context::create(
      {.prefer = {GetParam().backend}, .driver = GetParam().driver, .device_errors = DeviceErrors::later});
  const Tensor x = gpu.full({4}, 2).compute();
  const auto frame = [&] { return tanh(x).compute(); };
  const Tensor y = frame();
  for (int i = 0; i < 3; ++i) frame();
  const webgpu::HostDevice device = webgpu::host_device(gpu);
  wgpuDeviceInjectError(device.device, WGPUErrorType_Validation, {"as a test asked for", WGPU_STRLEN});
  const auto read = [&] {
    for (int i = 0; i < 100; ++i) frame().read();
  };
  EXPECT_TESSERA_ERROR(read(), unsupported, "by the kernel", "tanh", "as a test asked for");
  EXPECT_EQ(y.read(), frame().read());
}

TEST_P(WebGpuDone, RefusesOtherBackendsAndNoCallback) {
  EXPECT_TESSERA_ERROR(webgpu::when_done(context(), nullptr), invalid_argument, "webgpu::when_done", "empty");
  EXPECT_TESSERA_ERROR(webgpu::when_done(cpu_context(), [](bool) {}), wrong_backend, "webgpu::when_done");
}

TEST_P(WebGpuDone, OnAHostsDevice) {
  Host host(GetParam());
  Context gpu = webgpu::adopt(host.handles());
  std::promise<bool> told;
  (gpu.full({10}, 1) + 1.0f).compute();
  webgpu::when_done(gpu, [&](bool is_done) { told.set_value(is_done); });
  EXPECT_TRUE(told.get_future().get());
}

TEST_P(WebGpuDone, ProfilersGetTheTimeOfEachCallOnAHostsDevice) {
  Host host(GetParam(), Host::Threads::one, {WGPUFeatureName_TimestampQuery});
  if (!wgpuDeviceHasFeature(host.device, WGPUFeatureName_TimestampQuery)) GTEST_SKIP() << "the driver has no timers";
  Context gpu = webgpu::adopt(host.handles());
  const Tensor x = gpu.full({64, 64}, 0.5).compute();
  sum(square(x)).compute();  // compiles
  Monitor monitor(gpu);
  {
    const auto frame = monitor.span("frame");
    sum(square(x)).compute();
  }
  (x + 1.0f).compute();
  ASSERT_TRUE(monitor.report({.wait = true}).device_busy);
  const std::vector<CallTime> calls = monitor.take_calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].span, "frame");
  EXPECT_EQ(calls[1].span, "");
  for (const CallTime& call : calls) EXPECT_FALSE(call.kernels.empty());
  EXPECT_TRUE(host.errors.empty());
}

TESSERA_ON_WEBGPU_DEVICES(WebGpuDone);

}  // namespace
}  // namespace tessera::test::webgpu_done_test
