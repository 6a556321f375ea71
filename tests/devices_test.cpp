// Which devices there are, and which of them a context gets.
#include <cstdlib>
#include <set>

#include "support/devices.h"

namespace tessera::test {
namespace {

class Devices : public OnDevice {};

TEST_P(Devices, AreWhatWasAskedFor) {
  EXPECT_EQ(context().backend(), GetParam().backend);
  const DeviceInfo& device = context().device();
  EXPECT_EQ(device.backend, GetParam().backend);
  EXPECT_FALSE(device.name.empty());
  EXPECT_FALSE(device.driver.empty());
  EXPECT_GE(device.max_tensor_bytes, std::uint64_t{64} << 20);
  EXPECT_EQ(context().zeros({1}).backend(), GetParam().backend);
}

TEST_P(Devices, AreListed) {
  for (const DeviceInfo& device : Context::devices())
    if (device.name == context().device().name && device.driver == context().device().driver) return;
  ADD_FAILURE() << context().device().name << " is not in the list";
}

TEST_P(Devices, SeveralContextsOnOne) {
  const Context first = open(GetParam());
  Context second = open(GetParam());
  const Tensor x = second.full({3}, 2);
  EXPECT_EQ((x * x).read(), std::vector<float>(3, 4));
}

TEST_P(Devices, TensorsOutliveTheirContext) {
  Tensor pending, computed;
  {
    Context context = open(GetParam());
    computed = context.full({3}, 2).compute();
    pending = computed + 1.0f;
  }
  EXPECT_EQ(pending.read(), std::vector<float>(3, 3));
}

TEST_P(Devices, DriverNamesNobodyHas) {
  const BackendKind kind = GetParam().backend;
  EXPECT_TESSERA_ERROR(Context::create({.prefer = {kind}, .driver = "voodoo2"}), not_found, "voodoo2",
                       context().device().name.c_str());
}

TESSERA_ON_ALL_DEVICES(Devices);

TEST(DeviceChoice, HasTheBestOfEachBackendFirst) {
  const std::vector<DeviceInfo> devices = Context::devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices.back().backend, BackendKind::cpu);
  for (std::size_t i = 1; i < devices.size(); ++i) {
    EXPECT_LE(devices[i - 1].backend, devices[i].backend);
    EXPECT_TRUE(devices[i - 1].backend != devices[i].backend || devices[i - 1].is_software <= devices[i].is_software);
  }
  std::set<std::string> names;
  for (const DeviceInfo& device : devices)
    EXPECT_TRUE(names.insert(device.name + device.driver).second) << device.driver;
}

TEST(DeviceChoice, NeedsAPreference) {
  EXPECT_TESSERA_ERROR(Context::create({.prefer = {}}), invalid_argument, "empty");
}

TEST(DeviceChoice, FallsBackAndSaysWhy) {
  std::string told;
  const Context context = Context::create({.prefer = {BackendKind::webgpu, BackendKind::gles, BackendKind::cpu},
                                           .driver = "on the host",
                                           .on_message = [&](const Message& message) { told += message.text; }});
  EXPECT_EQ(context.backend(), BackendKind::cpu);
  EXPECT_NE(told.find("on the host"), std::string::npos) << told;
  EXPECT_NE(told.find("webgpu"), std::string::npos) << told;
  EXPECT_NE(told.find("gles"), std::string::npos) << told;
}

TEST(DeviceChoice, TheCpuIsTheLastResortWhateverTheName) {
  std::string told;
  const auto tell = [&](const Message& message) { told += message.text; };
  const Context context =
      Context::create({.prefer = {BackendKind::gles, BackendKind::cpu}, .driver = "voodoo2", .on_message = tell});
  EXPECT_EQ(context.backend(), BackendKind::cpu);
  EXPECT_NE(told.find(TESSERA_HAS_GLES ? "voodoo2" : "leaves it out"), std::string::npos) << told;

  EXPECT_TESSERA_ERROR(Context::create({.prefer = {BackendKind::cpu}, .driver = "voodoo2"}), not_found, "voodoo2");
  EXPECT_TESSERA_ERROR(Context::create({.prefer = {BackendKind::cpu, BackendKind::gles}, .driver = "voodoo2"}),
                       not_found, "voodoo2", "gles", "cpu");
}

// On a machine without drivers. The check runs in a process of its own, since drivers are found once a process.
void check_without_drivers() {
  setenv("VK_DRIVER_FILES", "/nonexistent/driver.json", 1);
  setenv("TESSERA_ANGLE_DIR", "/nonexistent", 1);
  setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent/vendor.json", 1);
  const auto message_for = [](BackendKind kind) -> std::string {
    try {
      Context::create({.prefer = {kind}});
    } catch (const Error& error) {
      return error.code() == ErrorCode::not_found ? error.what() : "wrong code";
    }
    return "no error";
  };
  const std::string webgpu = message_for(BackendKind::webgpu), gles = message_for(BackendKind::gles);
  const bool named = webgpu.find(TESSERA_HAS_WEBGPU ? "mesa-vulkan-drivers" : "leaves it out") != std::string::npos &&
                     gles.find(TESSERA_HAS_GLES ? "libegl1" : "leaves it out") != std::string::npos;
  if (!named) std::fprintf(stderr, "webgpu: %s\ngles: %s\n", webgpu.c_str(), gles.c_str());
  std::exit(named && Context::create().backend() == BackendKind::cpu ? 0 : 1);
}

TEST(DeviceChoiceDeathTest, WithoutAnyDriverNamesWhatToInstall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(check_without_drivers(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tessera::test
