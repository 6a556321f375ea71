#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <tessera/gles.h>
#include <tessera/tessera.h>

namespace {

TEST(Readme, FirstLines) {
#include "README/tessera.inc"
  EXPECT_EQ(values, (std::vector<float>{0, 0, 0, 2.5f, 5, 7.5f}));
}

TEST(Readme, AFirstProgram) { EXPECT_EQ(std::system(TESSERA_FIRST_PROGRAM), 0); }

TEST(Readme, EachFrame) {
  auto gpu = tessera::Context::create();
  const tessera::Tensor y = gpu.full({1080, 1920}, 128, tessera::DType::u8);
  const tessera::Tensor uv = gpu.full({540, 960, 2}, 128, tessera::DType::u8);
#include "README/each_frame.inc"
  EXPECT_EQ(input.shape(), (tessera::Shape{224, 224, 3}));
}

TEST(Readme, BackendsAndDrivers) {
#include "README/backends_and_drivers.inc"
  EXPECT_EQ(gl.backend(), tessera::BackendKind::gles);
}

}  // namespace

// Needs a window; docs/interop_gles.md has one.
void in_an_engine(unsigned scene, unsigned screen, float gain) {
#include "README/in_an_engine.inc"
}
