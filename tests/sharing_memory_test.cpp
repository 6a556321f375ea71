// TensorHub: where tensors are, what leaves the device, and what losses, switches and spilling change.
#include "support/hub.h"
#include "support/temporary_folder.h"
#include "support/webgpu_host.h"
#include <tessera/testing.h>

namespace tessera::test::sharing_memory_test {
namespace {

class SharingMemory : public Sharing {};

TEST_P(SharingMemory, SynchronisingCopiesOrMakesResident) {
  TensorHub hub(context());
  const TensorRef x{"x", "m"}, given{"given", "m"};
  hub.publish(x, numbers({3}) + 1.0f);
  EXPECT_FALSE(row(hub, x).is_on_device);
  EXPECT_FALSE(row(hub, x).has_host_copy);
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  hub.synchronize(x, Sync::cpu_to_gpu);
  EXPECT_TRUE(row(hub, x).is_on_device);
  EXPECT_FALSE(row(hub, x).has_host_copy);
  hub.synchronize(x, Sync::gpu_to_cpu);
  EXPECT_TRUE(row(hub, x).is_on_device);
  EXPECT_TRUE(row(hub, x).has_host_copy);

  std::uint64_t downloaded = context().stats().bytes_downloaded;
  hub.optimize_memory();  // the first to leave, and at no cost
  EXPECT_FALSE(row(hub, x).is_on_device);
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  EXPECT_EQ(context().stats().bytes_downloaded, downloaded);
  hub.synchronize(x);
  EXPECT_TRUE(row(hub, x).is_on_device);
  EXPECT_TRUE(row(hub, x).has_host_copy);
  downloaded = context().stats().bytes_downloaded;
  hub.optimize_memory(0);
  EXPECT_EQ(context().stats().bytes_downloaded, downloaded);
  EXPECT_EQ(hub.get(x).read(), (Floats{2, 3, 4}));

  hub.publish(given, numbers({3}));  // is on the host as long as nothing needs it elsewhere
  const std::uint64_t uploaded = context().stats().bytes_uploaded;
  hub.synchronize(given, Sync::gpu_to_cpu);
  hub.optimize_memory(0);
  EXPECT_FALSE(row(hub, given).is_on_device);
  EXPECT_TRUE(row(hub, given).has_host_copy);
  EXPECT_EQ(context().stats().bytes_uploaded, uploaded);
  hub.synchronize(given);
  EXPECT_TRUE(row(hub, given).is_on_device);
  EXPECT_TRUE(row(hub, given).has_host_copy);
}

TEST_P(SharingMemory, TheLeastRecentlyUsedLeaveTheDevice) {
  TensorHub hub(context());
  const std::uint64_t of_others = context().memory().bytes_in_use;
  for (const char* name : {"a", "b", "c"}) hub.publish({name, "m"}, numbers({256}) + 0.0f);
  hub.share({"a", "m"}, {"n"});
  hub.view({"a", "m"}, {"a_tail", "m"}, 254);
  const auto on_device = [&] {
    std::string names;
    for (const SharedTensor& shared : hub.list("m"))
      if (shared.is_on_device && !shared.is_view) names += shared.ref.name;
    EXPECT_EQ(context().memory().bytes_in_use - of_others, hub.gpu_memory_usage());
    return names;
  };
  hub.optimize_memory();  // all were used since there is a hub: they are computed, and stay
  EXPECT_EQ(on_device(), "abc");
  const std::uint64_t one = hub.gpu_memory_usage() / 3;
  EXPECT_GE(one, 1024u);
  hub.get({"a_tail", "m"});  // the use of a part is one of the whole
  hub.optimize_memory();
  EXPECT_EQ(on_device(), "a");
  EXPECT_TRUE(row(hub, {"a_tail", "m"}).is_on_device);
  EXPECT_EQ(hub.gpu_memory_usage(), one);
  EXPECT_EQ(context().memory().bytes_pooled, 0u);

  const Stats before = context().stats();
  EXPECT_EQ(hub.get({"b", "m"}).read().back(), 256);  // from the host
  EXPECT_EQ(context().stats().bytes_downloaded, before.bytes_downloaded);
  EXPECT_EQ(context().stats().bytes_uploaded, before.bytes_uploaded);
  EXPECT_EQ(on_device(), "a");
  for (const char* name : {"b", "c"}) EXPECT_EQ((hub.get({name, "m"}) + 0.0f).read().back(), 256);
  EXPECT_EQ(context().stats().bytes_uploaded, before.bytes_uploaded + 2 * 1024);
  EXPECT_EQ(on_device(), "abc");
  hub.optimize_memory(3 * one);
  EXPECT_EQ(on_device(), "abc");
  hub.optimize_memory(2 * one + 1);
  EXPECT_EQ(on_device(), "bc");
  EXPECT_FALSE(row(hub, {"a_tail", "m"}).is_on_device);
  EXPECT_EQ(hub.references({"a", "n"}), 2);
  EXPECT_EQ(hub.get({"a_tail", "m"}).read(), (Floats{255, 256}));
  hub.optimize_memory(0);
  EXPECT_EQ(on_device(), "");
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  hub.synchronize({"a_tail", "m"}, Sync::cpu_to_gpu);
  EXPECT_EQ(on_device(), "a");
  EXPECT_EQ(hub.get({"a", "n"}).read().front(), 1);
}

TEST_P(SharingMemory, HandlesStayValidWhenTheirTensorLeaves) {
  TensorHub hub(context());
  const std::uint64_t of_others = context().memory().bytes_in_use;
  hub.publish({"x", "m"}, numbers({8}) + 0.0f);
  hub.view({"x", "m"}, {"v", "m"}, 4);
  const Tensor whole = hub.get({"x", "m"}).compute(), view = hub.get({"v", "m"}).compute();
  const Tensor part = slice(whole, {2}, {3});  // pending
  const std::uint64_t bytes = hub.gpu_memory_usage();
  hub.optimize_memory(0);
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  EXPECT_EQ(context().memory().bytes_in_use, of_others);
  EXPECT_EQ(whole.read(), (Floats{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(view.read(), (Floats{5, 6, 7, 8}));
  EXPECT_EQ(part.read(), (Floats{3, 4, 5}));
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  EXPECT_EQ((view + 1.0f).read(), (Floats{6, 7, 8, 9}));
  EXPECT_EQ(hub.gpu_memory_usage(), bytes);
  hub.release_model("m");
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  EXPECT_EQ(view.read(), (Floats{5, 6, 7, 8}));
}

#if TESSERA_HAS_WEBGPU
class SharingWithAHost : public Sharing {};

TEST_P(SharingWithAHost, WhatItWasLentStaysOnTheDevice) {
  TensorHub hub(context());
  hub.publish({"lent", "m"}, numbers({8}) + 0.0f);
  hub.publish({"other", "m"}, numbers({8}) + 0.0f);
  const webgpu::GpuData data = webgpu::data_to_gpu(hub.get({"lent", "m"}));
  hub.optimize_memory(0);
  EXPECT_TRUE(row(hub, {"lent", "m"}).is_on_device);
  EXPECT_FALSE(row(hub, {"other", "m"}).is_on_device);
  EXPECT_EQ(webgpu::data_to_gpu(hub.get({"lent", "m"})).buffer, data.buffer);
}

TEST_P(SharingWithAHost, WhatTheHostLetGoOfMayLeave) {
  TensorHub hub(context());
  hub.publish({"lent", "m"}, numbers({8}) + 0.0f);
  webgpu::data_to_gpu(hub.get({"lent", "m"}));
  hub.optimize_memory(0);
  EXPECT_FALSE(row(hub, {"lent", "m"}).is_on_device);
}

TESSERA_ON_WEBGPU_DEVICES(SharingWithAHost);
#endif

TEST_P(SharingMemory, PendingWorkDoesNotKeepItsInputsOnTheDevice) {
  TensorHub hub(context());
  hub.publish({"x", "m"}, numbers({256}, -300));
  hub.elementwise({"x", "m"}, {"y", "m"});
  hub.synchronize({"x", "m"}, Sync::gpu_to_cpu);
  hub.optimize_memory();
  EXPECT_FALSE(row(hub, {"x", "m"}).is_on_device);
  EXPECT_TRUE(row(hub, {"y", "m"}).is_on_device);
  EXPECT_EQ(hub.get({"y", "m"}).read(), Floats(256, 0.0f));
}

TEST_P(SharingMemory, PendingNamesAreComputedInRoomThatIsShort) {
  constexpr std::int64_t side = 512;  // a megabyte
  const TestDevice device = GetParam();
  Context small =
      Context::create({.prefer = {device.backend}, .driver = device.driver, .memory_budget = std::uint64_t{4} << 20});
  TensorHub hub(small);
  const Tensor x = small.full({side, side}, 2).compute();
  for (int i = 0; i < 8; ++i) hub.publish({std::to_string(i), "m"}, x * static_cast<float>(i) + sqrt(x));
  hub.optimize_memory();
  for (int i = 0; i < 8; ++i)
    EXPECT_FLOAT_EQ(hub.get({std::to_string(i), "m"}).read()[4], 2 * static_cast<float>(i) + std::sqrt(2.0f));
  EXPECT_LE(small.memory().bytes_peak, std::uint64_t{4} << 20);
}

TEST_P(SharingMemory, ANameThatCannotBeComputedFailsNoOther) {
  std::string told;
  const TestDevice device = GetParam();
  Context own = Context::create(
      {.prefer = {device.backend}, .driver = device.driver, .on_message = [&](const Message& m) { told += m.text; }});
  TensorHub hub(own);
  const CustomKernel wrong{.name = "wrong", .outputs = {"y"}, .wgsl = "no shader", .glsl = "no shader"};
  hub.publish({"good", "m"}, numbers_in(own, {8}) + 0.5f);
  hub.publish({"bad", "m"}, run_custom(own, wrong, {.inputs = {}, .outputs = {{"y", {{8}}}}}).at("y"));
  hub.optimize_memory(0);
  EXPECT_TRUE(row(hub, {"good", "m"}).has_host_copy);
  EXPECT_NE(told.find("stays pending"), std::string::npos) << told;
  EXPECT_EQ(hub.get({"good", "m"}).read()[0], 1.5f);
  const TemporaryFolder folder;
  EXPECT_THROW(hub.save(folder / "all"), Error);
  try {
    hub.save(folder / "all");
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("m/bad"), std::string::npos) << error.what();
  }
  EXPECT_EQ(folder.files(), 0);
}

TEST_P(SharingMemory, SynchronisingAViewIsAboutItsWholeStorage) {
  TensorHub hub(context());
  hub.publish({"x", "m"}, numbers({8}) + 0.0f);
  hub.view({"x", "m"}, {"v", "m"}, 4, 2);
  hub.publish({"y", "m"}, slice(hub.get({"x", "m"}), {1}, {3}));  // another view, which the hub was not told about
  hub.synchronize({"v", "m"}, Sync::gpu_to_cpu);
  for (const char* name : {"x", "v", "y"}) EXPECT_TRUE(row(hub, {name, "m"}).has_host_copy) << name;
  hub.optimize_memory();
  for (const char* name : {"x", "v", "y"}) EXPECT_FALSE(row(hub, {name, "m"}).is_on_device) << name;
  hub.synchronize({"y", "m"}, Sync::cpu_to_gpu);
  for (const char* name : {"x", "v", "y"}) EXPECT_TRUE(row(hub, {name, "m"}).is_on_device) << name;
  EXPECT_EQ(hub.get({"v", "m"}).read(), (Floats{5, 6}));
}

TESSERA_ON_ALL_DEVICES(SharingMemory);

// On a context of its own, in which only the hub has tensors: all numbers are about them.
class SharingThrough : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    own_ = Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver});
    hub_.emplace(*own_);
    hub_->publish({"given", "m"}, numbers_in(*own_, {2, 4}));
    hub_->share({"given", "m"}, {"n"});
    hub_->publish({"made", "m"}, (hub_->get({"given", "m"}) * 2.0f).compute());
    hub_->share({"made", "m"}, {"n"});
    hub_->view({"made", "n"}, {"v", "n"}, 2, 4);
    hub_->view({"v", "n"}, {"w", "n"}, 3);
    hub_->release({"made", "m"});
    hub_->elementwise({"v", "n"}, {"pending", "n"});
  }

  void expect_all() {
    TensorHub& hub = *hub_;
    EXPECT_EQ(hub.get({"given", "n"}).read(), (Floats{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(hub.get({"made", "n"}).read(), (Floats{2, 4, 6, 8, 10, 12, 14, 16}));
    EXPECT_EQ(hub.get({"v", "n"}).read(), (Floats{6, 8, 10, 12}));
    EXPECT_EQ(hub.get({"w", "n"}).read(), Floats{12});
    EXPECT_EQ(hub.get({"pending", "n"}).read(), (Floats{6, 8, 10, 12}));
    EXPECT_EQ(hub.references({"given", "m"}), 2);
    EXPECT_EQ(hub.references({"made", "n"}), 1);
    for (const SharedTensor& shared : hub.list()) hub.synchronize(shared.ref, Sync::cpu_to_gpu);
    for (const SharedTensor& shared : hub.list()) EXPECT_TRUE(shared.is_on_device) << shared.ref.name;
    EXPECT_GE(hub.gpu_memory_usage(), 32u + 32 + 16);
    EXPECT_EQ(hub.gpu_memory_usage(), own_->memory().bytes_in_use);  // what views take, if anything, would be more
  }
  void expect_nothing_on_the_device() {
    EXPECT_EQ(hub_->gpu_memory_usage(), 0u);
    EXPECT_EQ(own_->memory().bytes_in_use, 0u);
    EXPECT_EQ(own_->memory().bytes_pooled, 0u);
  }

  std::optional<Context> own_;
  std::optional<TensorHub> hub_;
};

TEST_P(SharingThrough, Spilling) {
  hub_->optimize_memory(0);
  expect_nothing_on_the_device();
  expect_all();
  hub_->optimize_memory(0);
  expect_nothing_on_the_device();
  expect_all();
}

class SharingThroughLosses : public SharingThrough {};

TEST_P(SharingThroughLosses, OfDevices) {
  testing::lose_device(*own_);
  expect_all();
  testing::lose_device(*own_);
  hub_->synchronize({"w", "n"});  // a view of what is lost
  EXPECT_TRUE(row(*hub_, {"w", "n"}).is_on_device);
  EXPECT_TRUE(row(*hub_, {"w", "n"}).has_host_copy);
  expect_all();
  testing::lose_device(*own_);
  hub_->optimize_memory(0);  // with nothing to be had of the device
  expect_nothing_on_the_device();
  expect_all();
  hub_->optimize_memory(0);
  testing::lose_device(*own_);  // with everything on the host
  expect_all();
  EXPECT_EQ(own_->stats().device_losses, 4u);
}

TEST_P(SharingThrough, SwitchesOfTheBackend) {
  for (const TestDevice& device : {all_devices()[0], all_devices()[1], all_devices()[5], GetParam()}) {
    if (is_left_out(device)) continue;
    own_->switch_backend(device.backend, device.driver);
    EXPECT_EQ(hub_->gpu_memory_usage(), 0u);
    expect_all();
    hub_->optimize_memory(0);
    expect_nothing_on_the_device();
  }
  expect_all();
}

TESSERA_ON_ALL_DEVICES(SharingThrough);
TESSERA_ON_GPU_DEVICES(SharingThroughLosses);

}  // namespace
}  // namespace tessera::test::sharing_memory_test
