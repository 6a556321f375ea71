// What the system tells of devices, and devices chosen by it.
#include "support/devices.h"

namespace tessera::test::device_state_test {
namespace {

using Kind = DevicePreference::Kind;
using Order = DevicePreference::Order;

bool has_hardware(BackendKind kind) {
  for (const DeviceInfo& device : Context::devices())
    if (device.backend == kind && !device.is_software) return true;
  return false;
}

void expect_possible(const DeviceState& state) {
  if (state.memory_total && state.memory_free) {
    EXPECT_LE(*state.memory_free, *state.memory_total);
  }
  if (state.memory_total) {
    EXPECT_GT(*state.memory_total, 0u);
  }
  if (state.load) {
    EXPECT_GE(*state.load, 0);
    EXPECT_LE(*state.load, 1);
  }
}

TEST(DeviceStates, AreListedWithTheDevices) {
  for (const DeviceInfo& device : Context::devices()) {
    expect_possible(device.state);
    if (!device.is_software) continue;  // software runs on the host, which tells everything
    ASSERT_TRUE(device.state.memory_total && device.state.memory_free && device.state.load) << device.name;
    EXPECT_GT(*device.state.memory_free, std::uint64_t{1} << 20);
  }
}

class DeviceStates : public OnDevice {};

TEST_P(DeviceStates, OfAContextIsThePresentOne) {
  const DeviceState state = context().device_state();
  expect_possible(state);
  if (context().device().is_software) {
    EXPECT_TRUE(state.memory_total && state.memory_free && state.load);
  }
}

TEST_P(DeviceStates, SoftwareCanBeAskedFor) {
  const Context software = Context::create(
      {.prefer = {GetParam().backend}, .device = {.kind = Kind::software}, .driver = GetParam().driver});
  EXPECT_TRUE(software.device().is_software);
  EXPECT_EQ(software.device().driver, context().device().driver);
}

TEST_P(DeviceStates, HardwareIsNotReplacedBySoftware) {
  if (has_hardware(GetParam().backend)) GTEST_SKIP() << "this machine has hardware for it";
  EXPECT_TESSERA_ERROR(Context::create({.prefer = {GetParam().backend}, .device = {.kind = Kind::hardware}}), not_found,
                       "hardware", context().device().name.c_str());
}

TEST_P(DeviceStates, OrdersFindADeviceOfTheName) {
  for (const Order order : {Order::least_memory_used, Order::least_load}) {
    Context chosen =
        Context::create({.prefer = {GetParam().backend}, .device = {.order = order}, .driver = GetParam().driver});
    EXPECT_EQ(chosen.device().driver, context().device().driver);
    EXPECT_EQ((chosen.full({2}, 1) + 1.0f).read(), std::vector<float>(2, 2));
  }
  EXPECT_TESSERA_ERROR(
      Context::create({.prefer = {GetParam().backend}, .device = {.order = Order::least_load}, .driver = "voodoo2"}),
      not_found, "voodoo2", context().device().name.c_str());
}

constexpr std::uint64_t more_than_there_is = std::uint64_t{1} << 60;

TEST_P(DeviceStates, DevicesBeyondTheLimitsArePassedOver) {
  if (!context().device().is_software) GTEST_SKIP() << "hardware does not tell everything everywhere";
  const ContextOptions wanted{.prefer = {GetParam().backend}, .driver = GetParam().driver};
  ContextOptions options = wanted;
  options.device.min_memory_free = more_than_there_is;
  EXPECT_TESSERA_ERROR(Context::create(options), not_found, "MB free", "are wanted", context().device().name.c_str());
  options = wanted;
  options.device.max_load = -1;  // the host may be idle
  EXPECT_TESSERA_ERROR(Context::create(options), not_found, "load is", "%", context().device().name.c_str());
  options = wanted;
  options.device.min_memory_free = 1;
  EXPECT_EQ(Context::create(options).device().driver, context().device().driver);
}

TEST_P(DeviceStates, SwitchesTakePreferencesToo) {
  Context moving = open(GetParam());
  const Tensor x = moving.full({2}, 1).compute();
  EXPECT_TESSERA_ERROR(moving.switch_backend(BackendKind::cpu, {.device = {.min_memory_free = more_than_there_is}}),
                       not_found, "are wanted", "cpu");
  EXPECT_EQ(moving.backend(), GetParam().backend) << "nothing has changed";
  moving.switch_backend(BackendKind::cpu, {.device = {.kind = Kind::software, .min_memory_free = 1}});
  EXPECT_EQ(moving.backend(), BackendKind::cpu);
  moving.switch_backend(GetParam().backend, {.driver = GetParam().driver, .device = {.order = Order::least_load}});
  EXPECT_EQ(moving.device().driver, context().device().driver);
  EXPECT_EQ((x + 1.0f).read(), std::vector<float>(2, 2));
}

TESSERA_ON_ALL_DEVICES(DeviceStates);

TEST(DevicePreferences, FallBackAndSayWhy) {
  if (has_hardware(BackendKind::webgpu) || has_hardware(BackendKind::gles)) GTEST_SKIP() << "this machine has a GPU";
  std::string told;
  EXPECT_TESSERA_ERROR(Context::create({.device = {.kind = Kind::hardware}}), not_found, "webgpu", "gles", "cpu");
  const Context context = Context::create({.prefer = {BackendKind::webgpu, BackendKind::cpu},
                                           .device = {.kind = Kind::software},
                                           .driver = "on the host",
                                           .on_message = [&](const Message& message) { told += message.text; }});
  EXPECT_EQ(context.backend(), BackendKind::cpu);
  EXPECT_NE(told.find(TESSERA_HAS_WEBGPU ? "\"on the host\" is not in its name" : "leaves it out"), std::string::npos)
      << told;
}

TEST(DevicePreferences, LimitsHoldForEveryBackend) {
  EXPECT_TESSERA_ERROR(Context::create({.device = {.min_memory_free = more_than_there_is}}), not_found, "webgpu",
                       "gles", "cpu");
}

}  // namespace
}  // namespace tessera::test::device_state_test
