// Which devices there are, and which of them a context gets.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>

#include "support/devices.h"
#include "support/temporary_folder.h"

namespace tessera::test::devices_test {
namespace {

namespace fs = std::filesystem;

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
  EXPECT_NE(told.find(TESSERA_HAS_WEBGPU || TESSERA_HAS_GLES ? "on the host" : "leaves it out"), std::string::npos)
      << told;
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

#if TESSERA_HAS_GLES
// Where ANGLE is not as it should be, the context is one of the system's EGL, and the reason is told. In a process of
// its own, too.
class BrokenAngle {
 public:
  explicit BrokenAngle(const TemporaryFolder& folder) : folder_(folder.path()) {
    for (const auto& entry : fs::directory_iterator(TESSERA_TEST_ANGLE_DIR))
      fs::create_symlink(entry.path(), folder_ / entry.path().filename());
  }
  void remove(const char* file) const { fs::remove(folder_ / file); }
  void cut_short(const char* file, std::uintmax_t bytes) const {
    fs::copy_file(fs::path(TESSERA_TEST_ANGLE_DIR) / file, folder_ / "copy");
    fs::rename(folder_ / "copy", folder_ / file);
    fs::resize_file(folder_ / file, bytes);
  }
  void replace(const char* file, const char* by) const {
    remove(file);
    fs::copy_file(fs::path(TESSERA_TEST_ANGLE_DIR) / by, folder_ / file);
  }

  [[noreturn]] void check(const char* reason) const {
    setenv("TESSERA_ANGLE_DIR", folder_.c_str(), 1);
    int devices = 0;
    for (const DeviceInfo& device : Context::devices()) devices += device.backend == BackendKind::gles;
    std::string told;
    Context context = Context::create({.prefer = {BackendKind::gles},
                                       .driver = "Mesa",
                                       .on_message = [&](const Message& message) { told += message.text + "\n"; },
                                       .message_level = Message::Level::debug});
    const bool works = (context.full({3}, 1) + 1.0f).read() == std::vector<float>(3, 2);
    const bool has_reason = told.find(reason) != std::string::npos;
    if (!has_reason) std::fprintf(stderr, "told: %s\n", told.c_str());
    fs::remove_all(folder_);
    std::_Exit(works && devices > 0 && has_reason ? 0 : 1);
  }

 private:
  fs::path folder_;
};

TEST(DeviceChoiceDeathTest, AnAngleThatIsNotAllThereIsPassedOver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TemporaryFolder folder;
  const auto expect_passed_over = [&](const std::function<void(const BrokenAngle&)>& damage, const char* reason) {
    const auto damaged = [&] {
      const BrokenAngle angle(folder);
      damage(angle);
      angle.check(reason);
    };
    EXPECT_EXIT(damaged(), ::testing::ExitedWithCode(0), "") << reason;
  };
  expect_passed_over([](const BrokenAngle& angle) { angle.remove("libGLESv2.so"); }, "libGLESv2.so is not there");
  for (const std::uintmax_t bytes : {0, 100, 1000000})
    expect_passed_over([&](const BrokenAngle& angle) { angle.cut_short("libGLESv2.so", bytes); }, "libGLESv2.so");
  expect_passed_over([](const BrokenAngle& angle) { angle.cut_short("libEGL.so", 10000); }, "libEGL.so has only 10000");
  expect_passed_over([](const BrokenAngle& angle) { angle.cut_short("libvulkan.so.1", 10000); }, "libvulkan.so.1 has");
  expect_passed_over([](const BrokenAngle& angle) { angle.cut_short("libvk_swiftshader.so", 10000); },
                     "libvk_swiftshader.so has");
  expect_passed_over([](const BrokenAngle& angle) { angle.replace("libGLESv2.so", "libEGL.so"); }, "is not ANGLE's");
}

// On a machine whose driver has desktop OpenGL, but no OpenGL ES 3, the contexts are of that.
void check_without_es_3() {
  setenv("TESSERA_ANGLE_DIR", "/nonexistent", 1);
  setenv("MESA_GLES_VERSION_OVERRIDE", "2.0", 1);
  Context context = Context::create({.prefer = {BackendKind::gles}});
  const std::string& driver = context.device().driver;
  const bool is_desktop = driver.find("OpenGL ES") == std::string::npos && driver.find("OpenGL ") != std::string::npos;
  if (!is_desktop) std::fprintf(stderr, "driver: %s\n", driver.c_str());
  std::_Exit(is_desktop && (context.full({3}, 1) + 1.0f).read() == std::vector<float>(3, 2) ? 0 : 1);
}

TEST(DeviceChoiceDeathTest, WithoutOpenGlEsThereIsDesktopOpenGl) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(check_without_es_3(), ::testing::ExitedWithCode(0), "");
}

// ANGLE is copied to a temporary folder where it is needed twice.
void count_angles_with_temporary_files_in(const char* folder) {
  setenv("TMPDIR", folder, 1);
  int angles = 0;
  for (const DeviceInfo& device : Context::devices())
    angles += device.backend == BackendKind::gles && device.driver.find("ANGLE") != std::string::npos;
  std::_Exit(angles);
}

TEST(DeviceChoiceDeathTest, TemporaryFoldersThatAreNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  int usual = 0;
  const auto keep = [&](int status) {
    usual = WEXITSTATUS(status);
    return WIFEXITED(status) && usual > 0;
  };
  EXPECT_EXIT(count_angles_with_temporary_files_in("/tmp"), keep, "");
  for (const char* folder : {"/etc/passwd", "/nonexistent/folder"})
    EXPECT_EXIT(count_angles_with_temporary_files_in(folder), ::testing::ExitedWithCode(usual), "") << folder;
}
#endif

}  // namespace
}  // namespace tessera::test::devices_test
