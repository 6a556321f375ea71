#include "support/devices.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "support/commit.h"
#include <tessera/testing.h>

namespace tessera::test {

const std::vector<TestDevice>& all_devices() {
  static const std::vector<TestDevice> devices = devices_of_this_machine();
  return devices;
}

std::vector<TestDevice> gpu_devices() {
  std::vector<TestDevice> devices;
  for (const TestDevice& device : all_devices())
    if (device.backend != BackendKind::cpu) devices.push_back(device);
  return devices;
}

std::vector<TestDevice> one_of_each_backend(const std::vector<TestDevice>& devices, const std::string& suite) {
  const char* const wish = std::getenv("TESSERA_DRIVERS");
  if (wish && std::string_view(wish) == "all") return devices;
  std::map<std::pair<BackendKind, bool>, std::vector<TestDevice>> drivers;
  for (const TestDevice& device : devices) drivers[{device.backend, device.is_desktop}].push_back(device);
  std::vector<TestDevice> chosen;
  for (const auto& [kind, choice] : drivers) chosen.push_back(choice[hash_of(commit() + " " + suite) % choice.size()]);
  return chosen;
}

bool has_octets(const TestDevice& device) {
  const char* const bits = std::getenv("LP_NATIVE_VECTOR_WIDTH");
  return std::string_view(device.name) == "webgpu_lavapipe" && (!bits || std::atoi(bits) >= 256);
}

bool is_left_out(const TestDevice& device) {
  return std::string_view(TESSERA_BACKENDS_LEFT_OUT).find(to_string(device.backend)) != std::string_view::npos;
}

Context open(const TestDevice& device) {
  return Context::create(
      {.prefer = {device.backend}, .driver = device.driver, .on_message = [](const Message& message) {
         if (message.level >= Message::Level::warning) ADD_FAILURE() << message.text;
       }});
}

namespace {

std::map<std::string, Context> shared_contexts;

// No test gets kernels on trial by the time that it takes.
struct Contexts : ::testing::Environment {
  void SetUp() override { testing::stop_clock(); }
  void TearDown() override { close_shared_contexts(); }
};
[[maybe_unused]] ::testing::Environment* const contexts_environment = ::testing::AddGlobalTestEnvironment(new Contexts);

}  // namespace

void close_shared_contexts() { shared_contexts.clear(); }

Context& shared_context(const TestDevice& device) {
  static std::mutex lock;  // some hosts in the tests have threads
  const std::scoped_lock hold(lock);
  const auto found = shared_contexts.find(device.name);
  return found != shared_contexts.end() ? found->second
                                        : shared_contexts.emplace(device.name, open(device)).first->second;
}

Context& cpu_context() { return shared_context(all_devices().front()); }

void OnDevice::SetUp() {
  if (is_left_out(GetParam()))
    GTEST_SKIP() << "this build leaves out the " << to_string(GetParam().backend) << " backend";
  const bool is_lavapipe = std::strstr(GetParam().name, "lavapipe") != nullptr;
  static const bool has_lavapipe = [] {
    for (const DeviceInfo& device : Context::devices())
      if (device.backend == BackendKind::webgpu && device.name.find("llvmpipe") != std::string::npos) return true;
    return false;
  }();
  if (is_lavapipe && TESSERA_HAS_WEBGPU && !has_lavapipe)
    GTEST_SKIP() << "this machine has no lavapipe that Dawn accepts: install mesa-vulkan-drivers 23 or later";
}

void expect_steady(Context& context, std::uint64_t submits_a_frame, const std::function<void()>& frame) {
  frame();
  context.wait();
  context.reset_stats();
  const MemoryInfo before = context.memory();
  constexpr int frames = 5;
  for (int i = 0; i < frames; ++i) frame();
  EXPECT_EQ(context.stats().kernels_compiled, 0u);
  EXPECT_EQ(context.stats().submits, frames * submits_a_frame);
  EXPECT_EQ(context.stats().bytes_downloaded, 0u);
  const MemoryInfo after = context.memory();
  EXPECT_EQ(after.num_tensors, before.num_tensors);
  EXPECT_EQ(after.bytes_in_use + after.bytes_pooled, before.bytes_in_use + before.bytes_pooled);
  EXPECT_EQ(after.bytes_external, before.bytes_external);
}

void expect_error_of(void (*call)(const void* closure), const void* closure, ErrorCode code,
                     std::initializer_list<const char*> parts, const char* what) {
  try {
    call(closure);
    ADD_FAILURE() << what << " threw nothing";
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << what << ": " << error.what();
    for (const char* part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << what << ": " << error.what();
  }
}

}  // namespace tessera::test
