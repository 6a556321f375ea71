// Tensors on their way between contexts: without the host where the drivers can share memory, and by the host
// elsewhere.
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>
#include <thread>

#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::crossing_test {
namespace {

constexpr TestDevice swiftshader_webgpu{"webgpu_swiftshader", BackendKind::webgpu, "SwiftShader"};
constexpr TestDevice swiftshader_gles{"gles_angle_swiftshader", BackendKind::gles, "ANGLE on SwiftShader"};

constexpr DType all_dtypes[] = {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean};

// Every bit pattern that a type can have comes up, but for halves that are neither numbers nor infinite, which shaders
// need not tell apart.
std::vector<std::byte> patterns(DType dtype, std::int64_t elements) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(elements) * size_of(dtype));
  std::uint32_t state = 12345;
  for (std::byte& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::byte>(state >> 24);
    if (dtype == DType::boolean) byte &= std::byte{1};
  }
  if (dtype == DType::f16)
    for (std::size_t i = 1; i < bytes.size(); i += 2)
      if ((bytes[i] & std::byte{0x7c}) == std::byte{0x7c}) bytes[i] &= std::byte{0xbf};
  return bytes;
}

template <class T>
std::vector<std::byte> bytes_of(const Tensor& tensor) {
  const std::vector<T> values = tensor.read<T>();
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if constexpr (std::is_same_v<T, bool>)
    for (std::size_t i = 0; i < values.size(); ++i) bytes[i] = values[i] ? std::byte{1} : std::byte{0};
  else std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<std::byte> elements_of(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::f32: return bytes_of<float>(tensor);
    case DType::f16: return bytes_of<half>(tensor);
    case DType::i32: return bytes_of<std::int32_t>(tensor);
    case DType::i8: return bytes_of<std::int8_t>(tensor);
    case DType::u8: return bytes_of<std::uint8_t>(tensor);
    case DType::boolean: break;
  }
  return bytes_of<bool>(tensor);
}

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

struct Way {
  const char* name;
  TestDevice from, to;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

// Between contexts on one driver that can share memory.
class CrossingOnOneDriver : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (is_left_out(GetParam().from) || is_left_out(GetParam().to)) GTEST_SKIP() << "A backend was left out.";
    from_ = std::make_unique<Context>(open(GetParam().from));
    to_ = std::make_unique<Context>(open(GetParam().to));
  }
  Context& from() { return *from_; }
  Context& to() { return *to_; }

  // On the device, as what a computation leaves there.
  Tensor on_device(const Shape& shape, DType dtype = DType::f32) {
    return from().tensor(shape, dtype, patterns(dtype, shape.size())).compute();
  }
  // Drivers free what is done when they are next asked for something.
  void settle() {
    for (Context* context : {&from(), &to()}) {
      context->wait();
      for (int i = 0; i < 3; ++i) (context->full({4}, 1) * 2.0f).read();
    }
  }
  void expect_no_host() {
    EXPECT_EQ(from().stats().bytes_downloaded, 0u);
    EXPECT_EQ(to().stats().bytes_downloaded, 0u);
    EXPECT_EQ(to().stats().bytes_uploaded, 0u);
    EXPECT_EQ(to().stats().moves_through_host, 0u);
  }

 private:
  std::unique_ptr<Context> from_, to_;
};

TEST_P(CrossingOnOneDriver, EveryTypeAndShapeBitForBit) {
  for (const DType dtype : all_dtypes)
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{5}, Shape{3, 7, 11}, Shape{256}, Shape{257}, Shape{16, 1024},
                               Shape{100, 333}, Shape{1, 1 << 18}}) {
      SCOPED_TRACE(std::string(to_string(dtype)) + " " + shape.to_string());
      to().reset_stats();
      from().reset_stats();
      const Tensor crossed = on_device(shape, dtype).to(to());
      EXPECT_EQ(crossed.shape(), shape);
      EXPECT_EQ(crossed.dtype(), dtype);
      EXPECT_EQ(crossed.backend(), GetParam().to.backend);
      EXPECT_EQ(to().stats().moves_on_device, 1u);
      expect_no_host();
      EXPECT_EQ(elements_of(crossed), patterns(dtype, shape.size()));
    }
}

TEST_P(CrossingOnOneDriver, ViewsSlicesAndWorkOnBothSides) {
  std::vector<float> counted(1000);
  std::iota(counted.begin(), counted.end(), 0.0f);
  const Tensor x = from().tensor({10, 100}, counted).compute();
  to().reset_stats();
  const Tensor row = slice(x, {3, 0}, {1, 100}).to(to());
  const Tensor part = slice(x, {2, 3}, {4, 5}).to(to());
  const Tensor start = slice(x, {0, 0}, {1, 98}).reshape({98}).to(to());
  const Tensor turned = transpose(x).to(to());
  const Tensor pending = (x * 2.0f + 1.0f).to(to());
  const Tensor same = from().full({7}, 3).to(to());
  EXPECT_EQ(to().stats().moves_on_device, 6u);
  expect_no_host();
  EXPECT_EQ(row.read(), std::vector<float>(counted.begin() + 300, counted.begin() + 400));
  EXPECT_EQ(slice(part, {3, 0}, {1, 5}).read(), (std::vector<float>{503, 504, 505, 506, 507}));
  EXPECT_EQ((turned + 0.0f).read()[1], 100);
  EXPECT_EQ(sum(pending).read()[0], 2.0f * 499500 + 1000);
  EXPECT_EQ(sum(start).read()[0], 97.0f * 98 / 2);  // what follows the elements is zero, whatever it was there
  EXPECT_EQ((same * 2.0f).read(), std::vector<float>(7, 6));
}

TEST_P(CrossingOnOneDriver, RoundTripsKeepCountsFlat) {
  const Shape shape{333, 777};
  const std::vector<std::byte> wanted = patterns(DType::f32, shape.size());
  Tensor x = on_device(shape);
  const auto round = [&] { x = x.to(to()).to(from()); };
  for (int i = 0; i < 5; ++i) round();
  settle();
  from().reset_stats();
  to().reset_stats();
  const std::size_t files = open_files();
  const std::int64_t nodes = testing::live_nodes();
  const MemoryInfo before = from().memory(), other_before = to().memory();
  for (int i = 0; i < 200; ++i) round();
  expect_no_host();
  EXPECT_EQ(from().stats().bytes_uploaded, 0u);
  EXPECT_EQ(from().stats().moves_on_device, 200u);
  EXPECT_EQ(to().stats().moves_on_device, 200u);
  EXPECT_EQ(from().memory().num_tensors, before.num_tensors);
  EXPECT_EQ(from().memory().bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(from().memory().bytes_pooled, before.bytes_pooled);
  EXPECT_EQ(to().memory().bytes_in_use, other_before.bytes_in_use);
  EXPECT_EQ(to().memory().bytes_pooled, other_before.bytes_pooled);
  EXPECT_EQ(testing::live_nodes(), nodes);
  // Of memory and semaphores. Drivers free some of them on threads of their own; a leak would be one a crossing.
  for (int i = 0; i < 20 && open_files() > files; ++i) settle();
  EXPECT_LT(open_files(), files + 100);
  EXPECT_EQ(elements_of(x), wanted);
}

TEST_P(CrossingOnOneDriver, TensorsThatStayKeepTheirOwnElements) {
  std::vector<Tensor> crossed;
  for (int i = 0; i < 40; ++i) crossed.push_back((from().full({1000}, 1) * static_cast<float>(i)).to(to()));
  for (int i = 0; i < 40; ++i) EXPECT_EQ(crossed[static_cast<std::size_t>(i)].read()[999], static_cast<float>(i));
  EXPECT_EQ(to().stats().moves_on_device, 40u);
}

TEST_P(CrossingOnOneDriver, WhatIsOnTheHostAloneGoesFromThere) {
  const Tensor x = from().tensor({3}, {1, 2, 3}).to(to());
  EXPECT_EQ(to().stats().moves_through_host, 1u);
  EXPECT_EQ(x.read(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(from().tensor({0, 3}, {}).to(to()).shape(), (Shape{0, 3}));
  EXPECT_EQ(to().stats().moves_through_host + to().stats().moves_on_device, 1u);
}

TEST_P(CrossingOnOneDriver, AFailureTakesTheWayThroughTheHost) {
  for (const bool in_target : {false, true}) {
    std::string told;
    Context target = Context::create({.prefer = {GetParam().to.backend},
                                      .driver = GetParam().to.driver,
                                      .on_message = [&](const Message& message) { told += message.text; }});
    const Tensor x = on_device({1000});
    testing::fail_sharing(in_target ? target : from(), 1);
    EXPECT_EQ(elements_of(x.to(target)), patterns(DType::f32, 1000));
    EXPECT_EQ(target.stats().moves_through_host, 1u);
    EXPECT_EQ(target.stats().moves_on_device, 0u);
    EXPECT_NE(told.find("made to fail"), std::string::npos) << told;
    EXPECT_EQ(elements_of(x.to(target)), patterns(DType::f32, 1000));
    EXPECT_EQ(target.stats().moves_through_host, 2u);
  }
  EXPECT_TESSERA_ERROR(testing::fail_sharing(from(), 0), invalid_argument, "fail_sharing", "0");
}

TEST_P(CrossingOnOneDriver, OtherContextsOfTheSourceAreNotAffectedWhenOneGoes) {
  const Tensor x = on_device({5000});
  for (int i = 0; i < 3; ++i) {
    Context passing = open(GetParam().to);
    EXPECT_EQ(elements_of(x.to(passing)), patterns(DType::f32, 5000));
    EXPECT_EQ(passing.stats().moves_on_device, 1u);
  }
  from().trim();
  EXPECT_EQ(elements_of(x.to(to())), patterns(DType::f32, 5000));
}

// Devices that are lost are told of as a warning, so these contexts do not take warnings for failures.
class SharingLoss : public CrossingOnOneDriver {
 protected:
  Context open_silently(const TestDevice& device, bool survive = true) {
    return Context::create(
        {.prefer = {device.backend}, .driver = device.driver, .survive_device_loss = survive, .on_message = {}});
  }
};

TEST_P(SharingLoss, OfEitherDeviceLosesNothing) {
  const std::vector<std::byte> wanted = patterns(DType::f32, 5000);
  for (const bool source_too : {false, true}) {
    Context from = open_silently(GetParam().from), to = open_silently(GetParam().to);
    const Tensor crossed = from.tensor({5000}, DType::f32, wanted).compute().to(to);  // the source is let go
    const Tensor after = (crossed.reshape({50, 100}) + 0.0f).compute();
    const std::vector<float> before = after.read();
    to.reset_stats();
    testing::lose_device(to);
    if (source_too) testing::lose_device(from);
    EXPECT_EQ(elements_of(crossed), wanted);
    EXPECT_EQ(std::memcmp(after.read().data(), before.data(), 4 * before.size()), 0);
    EXPECT_EQ(to.stats().device_losses, 1u);
    EXPECT_EQ(to.stats().bytes_uploaded, 0u);
    // And they share again, once the source has noticed its loss, too.
    from.full({1}, 1).read();
    EXPECT_EQ(elements_of(crossed.to(from)), wanted);
    EXPECT_EQ(from.stats().moves_on_device, 1u);
    EXPECT_EQ(elements_of((from.full({100}, 1) * 2.0f).to(to)).size(), 400u);
    EXPECT_EQ(to.stats().moves_on_device, 1u);
  }
}

TEST_P(SharingLoss, OnTheWay) {
  Context from = open_silently(GetParam().from), to = open_silently(GetParam().to);
  const Tensor x = (from.full({1000}, 1) * 3.0f).compute();
  testing::lose_device(from);
  EXPECT_EQ(x.to(to).read(), std::vector<float>(1000, 3));
  testing::lose_device(to);
  EXPECT_EQ(x.to(to).read(), std::vector<float>(1000, 3));
}

TEST_P(SharingLoss, TensorsThatWereLetGoAreStillKnownToWhatIsHeld) {
  Context from = open_silently(GetParam().from), to = open_silently(GetParam().to);
  Tensor sum = to.full({1000}, 0).compute();
  for (int i = 0; i < 20; ++i) sum = (sum + (from.full({1000}, 1) * static_cast<float>(i)).to(to)).compute();
  testing::lose_device(to);
  EXPECT_EQ(sum.read(), std::vector<float>(1000, 190));
}

TEST_P(SharingLoss, ContextsMoveToOtherBackendsWithWhatCrossed) {
  Context from = open_silently(GetParam().from), to = open_silently(GetParam().to);
  const Tensor crossed = (from.full({1000}, 1) * 3.0f).to(to);
  to.switch_backend(BackendKind::cpu);
  EXPECT_EQ(crossed.read(), std::vector<float>(1000, 3));
}

TEST_P(SharingLoss, CanBeDeclined) {
  Context from = open_silently(GetParam().from), to = open_silently(GetParam().to, false);
  const Tensor crossed = (from.full({1000}, 1) * 3.0f).to(to);
  testing::lose_device(to);
  EXPECT_TESSERA_ERROR(crossed.read(), device_lost, "survive_device_loss");
}

TEST_P(CrossingOnOneDriver, BothWaysOnTwoThreads) {
  const auto run = [](Context& here, Context& there, float number) {
    const Tensor own = here.full({64, 65}, number).compute();
    for (int i = 0; i < 50; ++i) {
      const Tensor back = (own.to(there) + 1.0f).to(here);
      EXPECT_EQ(back.read()[64 * 65 - 1], number + 1);
    }
  };
  std::thread other([&] { run(to(), from(), 20); });
  run(from(), to(), 10);
  other.join();
  EXPECT_EQ(from().stats().moves_on_device, 100u);
  EXPECT_EQ(to().stats().moves_on_device, 100u);
}

const Way ways[] = {{"webgpu_to_gles", swiftshader_webgpu, swiftshader_gles},
                    {"gles_to_webgpu", swiftshader_gles, swiftshader_webgpu},
                    {"webgpu_to_webgpu", swiftshader_webgpu, swiftshader_webgpu},
                    {"gles_to_gles", swiftshader_gles, swiftshader_gles}};
std::string way_name(const ::testing::TestParamInfo<Way>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(On, CrossingOnOneDriver, ::testing::ValuesIn(ways), way_name);
INSTANTIATE_TEST_SUITE_P(On, SharingLoss, ::testing::ValuesIn(ways), way_name);

// Images are used again in both directions: no other tensor's elements may show.
TEST(Crossing, BackAndForthWithOtherValues) {
  if (is_left_out(swiftshader_webgpu) || is_left_out(swiftshader_gles)) GTEST_SKIP() << "A backend was left out.";
  Context &webgpu = shared_context(swiftshader_webgpu), &gles = shared_context(swiftshader_gles);
  std::uint32_t state = 1;
  for (int i = 0; i < 100; ++i) {
    const auto number = static_cast<float>(i);
    state = state * 1664525 + 1013904223;
    const bool to_gles = (state >> 30) % 2 == 0;
    Context &from = to_gles ? webgpu : gles, &to = to_gles ? gles : webgpu;
    EXPECT_EQ((from.full({100, 99}, 1) * number).to(to).read(), std::vector<float>(9900, number)) << i;
  }
}

TEST(Crossing, IsExactBetweenAllDevices) {
  for (const TestDevice& from : all_devices())
    for (const TestDevice& to : all_devices()) {
      if (is_left_out(from) || is_left_out(to) || from.name == to.name) continue;
      SCOPED_TRACE(std::string(from.name) + " to " + to.name);
      Context &source = shared_context(from), &target = shared_context(to);
      target.reset_stats();
      std::uint64_t moves = 0;
      for (const DType dtype : all_dtypes) {
        const Tensor x = source.tensor({7, 33}, dtype, patterns(dtype, 7 * 33)).compute();
        EXPECT_EQ(elements_of(x.to(target)), patterns(dtype, 7 * 33)) << to_string(dtype);
        ++moves;
      }
      const bool can_share = from.backend != BackendKind::cpu && to.backend != BackendKind::cpu &&
                             std::string(from.driver).find("SwiftShader") != std::string::npos &&
                             std::string(to.driver).find("SwiftShader") != std::string::npos;
      EXPECT_EQ(target.stats().moves_on_device, can_share ? moves : 0);
      EXPECT_EQ(target.stats().moves_through_host, can_share ? 0 : moves);
    }
}

}  // namespace
}  // namespace tessera::test::crossing_test
