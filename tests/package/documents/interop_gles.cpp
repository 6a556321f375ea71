#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "support/virtual_display.h"

#include "interop_gles/a_host_in_another_context.inc"
#include "interop_gles/a_host_in_another_context_2.inc"
#include "interop_gles/in_from_texture.inc"
#include "interop_gles/in_the_host_s_shaders.inc"
#include "interop_gles/out_data_to_gpu.inc"
#include "interop_gles/out_to_texture.inc"
#include "interop_gles/ready_before_the_first_frame.inc"
#include "interop_gles/the_host_s_context.inc"
#include "interop_gles/values_for_the_cpu_without_waiting.inc"

namespace {

constexpr int width = 32, height = 16;
constexpr unsigned texture_2d = 0x0DE1, rgba = 0x1908, rgba8 = 0x8058, unsigned_byte = 0x1401, fragment = 0x8B30,
                   is_compiled = 0x8B81;

template <class Function>
Function gl(const char* name) {
  return reinterpret_cast<Function>(glfwGetProcAddress(name));
}

unsigned texture() {
  unsigned name = 0;
  gl<void (*)(int, unsigned*)>("glGenTextures")(1, &name);
  gl<void (*)(unsigned, unsigned)>("glBindTexture")(texture_2d, name);
  gl<void (*)(unsigned, int, unsigned, int, int)>("glTexStorage2D")(texture_2d, 1, rgba8, width, height);
  return name;
}

std::vector<std::uint8_t> pixel() {
  std::vector<std::uint8_t> value(4);
  gl<void (*)(int, int, int, int, unsigned, unsigned, void*)>("glReadPixels")(0, 0, 1, 1, rgba, unsigned_byte,
                                                                              value.data());
  return value;
}

bool compiles(const std::string& glsl) {
  const unsigned shader = gl<unsigned (*)(unsigned)>("glCreateShader")(fragment);
  const char* const text = glsl.c_str();
  gl<void (*)(unsigned, int, const char* const*, const int*)>("glShaderSource")(shader, 1, &text, nullptr);
  gl<void (*)(unsigned)>("glCompileShader")(shader);
  int result = 0;
  gl<void (*)(unsigned, unsigned, int*)>("glGetShaderiv")(shader, is_compiled, &result);
  return result != 0;
}

// A host with a window, whose GL context is current.
class InteropGles : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(display_.is_there() && glfwInit()) << "there is no X server, and Xvfb does not start";
    glfwWindowHint(GLFW_CLIENT_API, GLFW_OPENGL_ES_API);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
    glfwWindowHint(GLFW_CONTEXT_CREATION_API, GLFW_EGL_CONTEXT_API);
    window_ = glfwCreateWindow(width, height, "tessera", nullptr, nullptr);
    ASSERT_NE(window_, nullptr);
    glfwMakeContextCurrent(window_);
  }
  void TearDown() override {
    if (window_) glfwDestroyWindow(window_);
    glfwTerminate();
  }

  tessera::test::VirtualDisplay display_;
  GLFWwindow* window_ = nullptr;
};

TEST_F(InteropGles, FramesAndTextures) {
  tessera::Context gpu = start();
  const unsigned camera = texture(), screen = texture();
  tessera::gles::to_texture(gpu.full({height, width, 3}, 0.2f), {.texture = camera, .width = width, .height = height});
  each_frame(gpu, camera, screen, width, height);
  EXPECT_NEAR(mean_red(gpu, screen, width, height), 0.8f, 1e-5);
  present(gpu.full({height, width, 3}, 0.4f), width, height);
  EXPECT_EQ(pixel(), (std::vector<std::uint8_t>{102, 102, 102, 255}));
}

TEST_F(InteropGles, GetsReady) {
  tessera::Context gpu = start();
  const auto program = tessera::Program::record(
      gpu, {{.shape = {4}}}, [](std::span<const tessera::Tensor> in) { return std::vector{cumsum(in[0] * 2.0f)}; });
  program.prepare();
  while (!is_ready(gpu)) glfwSwapBuffers(window_);
  const tessera::Tensor x = gpu.full({4}, 1).compute();
  gpu.reset_stats();
  EXPECT_EQ(program.run({x})[0].read(), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(gpu.stats().kernels_compiled, 0u);
}

TEST_F(InteropGles, ReadsWithoutWaiting) {
  tessera::Context gpu = start();
  Meter meter;
  const tessera::Tensor image = gpu.full({height, width, 3}, 0.25f);
  for (int frame = 0; frame < 1000 && meter.brightness == 0; ++frame) {
    meter.each_frame(gpu, image);
    glfwSwapBuffers(window_);
  }
  EXPECT_EQ(meter.brightness, 0.25f);
}

TEST_F(InteropGles, HandsOut) {
  tessera::Context gpu = start();
  tessera::Tensor keep;
  EXPECT_NE(hand_out(gpu.zeros({480, 640, 4}), keep), 0u);
  EXPECT_TRUE(keep.is_computed());
  const Handed handed = hand_over(gpu, gpu.zeros({4}));
  take_back(gpu, handed, tessera::gles::fence(gpu));
  EXPECT_TRUE(compiles(fragment_shader(gpu.zeros({4, 4}))));
}

TEST(InteropGlesAnotherContext, StartsDrawing) {
  tessera::Context gpu = tessera::Context::create({.prefer = {tessera::BackendKind::gles}, .driver = "ANGLE"});
  const tessera::gles::HostContext mine = start_drawing(gpu);
  EXPECT_NE(mine.context, tessera::gles::host_context(gpu).context);
  const auto egl = [&](auto function, const char* name) {
    return reinterpret_cast<decltype(function)>(mine.get_proc_address(name));
  };
  using MakeCurrent = unsigned (*)(void* display, void* draw, void* read, void* context);
  using DestroyContext = unsigned (*)(void* display, void* context);
  egl(MakeCurrent{}, "eglMakeCurrent")(mine.display, nullptr, nullptr, nullptr);
  egl(DestroyContext{}, "eglDestroyContext")(mine.display, mine.context);
}

}  // namespace
