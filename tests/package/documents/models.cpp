#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include <tessera/model.h>

namespace {

TEST(Models, NetworksFromFiles) {
  const std::filesystem::path file = "/usr/share/libonnx-testdata/data/node/test_relu/model.onnx";
  if (!exists(file)) GTEST_SKIP() << "the package libonnx-testdata is not installed";
  auto gpu = tessera::Context::create();
  const tessera::Tensor x = gpu.full({3, 4, 5}, -1);
#include "models/networks_from_files.inc"
  EXPECT_EQ(y.read(), std::vector<float>(60, 0));
#include "models/sizes.inc"
#include "models/sizes_2.inc"
#include "models/sizes_3.inc"
}

}  // namespace
