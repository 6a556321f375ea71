// The devices that tests run on: every backend, on every driver that a set-up machine has.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::test {

struct TestDevice {
  const char* name;  // of the tests on it
  BackendKind backend;
  const char* driver;
  bool is_desktop = false;  // OpenGL
};

const std::vector<TestDevice>& all_devices();
std::vector<TestDevice> devices_of_this_machine();
// Desktop OpenGL. All tests run on it where TESSERA_TEST_OPENGL is set in the environment, and else some.
const TestDevice& opengl_device();
std::vector<TestDevice> all_devices_and_opengl();
std::vector<TestDevice> gpu_devices();
// One of each backend, by the commit and the suite; all of them with TESSERA_DRIVERS=all. Desktop OpenGL counts as
// one more.
std::vector<TestDevice> one_of_each_backend(const std::vector<TestDevice>&, const std::string& suite);
bool is_left_out(const TestDevice&);  // by the options of this build
// Whether kernels in octets run on it: on lavapipe, whose subgroups are as wide as its vectors, of eight numbers unless
// the environment makes them narrow.
bool has_octets(const TestDevice&);

inline std::string device_name(const ::testing::TestParamInfo<TestDevice>& info) { return info.param.name; }
inline void PrintTo(const TestDevice& device, std::ostream* out) { *out << device.name; }

// One context a device for the whole program, since opening one takes time.
Context& shared_context(const TestDevice&);
// Drivers take themselves down when a program exits, before its variables go. Tests end with it by themselves.
void close_shared_contexts();
Context open(const TestDevice&);
Context& cpu_context();  // the shared one, which others are measured by

// Nothing is compiled, read back or kept by any frame after the first.
void expect_steady(Context&, std::uint64_t submits_a_frame, const std::function<void()>& frame);

// Runs on the device of its parameter.
class OnDevice : public ::testing::TestWithParam<TestDevice> {
 protected:
  void SetUp() override;
  Context& context() { return shared_context(GetParam()); }
};

#define TESSERA_ON_ALL_DEVICES(suite) \
  INSTANTIATE_TEST_SUITE_P(On, suite, ::testing::ValuesIn(::tessera::test::all_devices()), ::tessera::test::device_name)
#define TESSERA_ON_ALL_DEVICES_AND_OPENGL(suite)                                                      \
  INSTANTIATE_TEST_SUITE_P(On, suite, ::testing::ValuesIn(::tessera::test::all_devices_and_opengl()), \
                           ::tessera::test::device_name)
#define TESSERA_ON_GPU_DEVICES(suite) \
  INSTANTIATE_TEST_SUITE_P(On, suite, ::testing::ValuesIn(::tessera::test::gpu_devices()), ::tessera::test::device_name)
// For operations and plans, which are the same kernels on all drivers of a backend. What drivers do in ways of their
// own, such as algebra, memory, losses and images of a host, is tested on all of them.
#define TESSERA_ON_EACH_BACKEND(suite)                                                                              \
  INSTANTIATE_TEST_SUITE_P(                                                                                         \
      On, suite, ::testing::ValuesIn(::tessera::test::one_of_each_backend(::tessera::test::all_devices(), #suite)), \
      ::tessera::test::device_name)
#define TESSERA_ON_EACH_GPU_BACKEND(suite)                                                                          \
  INSTANTIATE_TEST_SUITE_P(                                                                                         \
      On, suite, ::testing::ValuesIn(::tessera::test::one_of_each_backend(::tessera::test::gpu_devices(), #suite)), \
      ::tessera::test::device_name)

// Expects an Error with this code whose sentence has all of these parts.
#define EXPECT_TESSERA_ERROR(statement, error_code, ...) \
  ::tessera::test::expect_error([&] { (void)(statement); }, ::tessera::ErrorCode::error_code, {__VA_ARGS__}, #statement)

// There are hundreds of these: what they have in common is compiled once.
void expect_error_of(void (*call)(const void* closure), const void* closure, ErrorCode,
                     std::initializer_list<const char*> parts, const char* what);
template <class Call>
void expect_error(const Call& call, ErrorCode code, std::initializer_list<const char*> parts, const char* what) {
  expect_error_of([](const void* closure) { (*static_cast<const Call*>(closure))(); }, &call, code, parts, what);
}

}  // namespace tessera::test
