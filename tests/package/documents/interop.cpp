#include <gtest/gtest.h>

#include <tessera/tessera.h>

using namespace tessera;

TEST(Interop, BetweenTheTwo) {
  auto host = Context::create({.prefer = {BackendKind::cpu}});
  const Tensor frame = host.full({1, 4, 4, 1}, 1), weights = host.full({3, 3, 1, 1}, 1);
#include "interop/between_the_two.inc"
  EXPECT_FALSE(stayed_on_device);  // as they come from the host here
  EXPECT_EQ(shown.read(), std::vector<float>(4, 9));
}
