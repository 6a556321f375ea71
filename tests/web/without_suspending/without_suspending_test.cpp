// A program that is linked without Asyncify and JSPI cannot wait for WebGPU, and says what to call instead.
#include "support/devices.h"

namespace tessera::test {
namespace {

class WithoutSuspending : public ::testing::Test {
 protected:
  Context gpu = Context::create({.prefer = {BackendKind::webgpu}});
  const Tensor x = gpu.tensor({3}, {1, 2, 3});
};

TEST_F(WithoutSuspending, GetNamesThen) {
  ASSERT_EQ(gpu.backend(), BackendKind::webgpu);
  Pending<std::vector<float>> pending = (x * 2.0f).read_async();
  EXPECT_FALSE(pending.ready());
  EXPECT_TESSERA_ERROR(pending.get(), unsupported, "call then()", "-sASYNCIFY", "-sJSPI");
  EXPECT_FALSE(pending.is_empty());  // a later then() gets it
}

TEST_F(WithoutSuspending, ReadsAndWaitsNameReadAsync) {
  EXPECT_TESSERA_ERROR((x + 1.0f).read(), unsupported, "call read_async().then() instead");
  EXPECT_TESSERA_ERROR(gpu.wait(), unsupported, "call read_async().then() instead");
}

}  // namespace
}  // namespace tessera::test
