// A host with a window: GLFW, with a context of OpenGL ES 3 or of desktop OpenGL, of EGL or of GLX, on the system's
// driver.
#include "support/gles_host.h"
#include "support/virtual_display.h"

#ifdef TESSERA_HAS_GLFW
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <cstdlib>
#include <optional>
#include <thread>

namespace tessera::test::gles_window_test {
namespace {

struct Api {
  const char* name;
  int creation;
  bool is_desktop = false;
};
void PrintTo(const Api& api, std::ostream* out) { *out << api.name; }

class GlesWindow : public ::testing::TestWithParam<Api> {
 protected:
  static constexpr int width = 64, height = 48;

  void SetUp() override {
    if (!display_.is_there()) GTEST_SKIP() << "there is no X server, and Xvfb does not start";
    if (!glfwInit()) GTEST_SKIP() << "GLFW does not start";
    const bool is_desktop = GetParam().is_desktop;
    glfwWindowHint(GLFW_CLIENT_API, is_desktop ? GLFW_OPENGL_API : GLFW_OPENGL_ES_API);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, is_desktop ? 3 : 0);
    if (is_desktop) glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_CONTEXT_CREATION_API, GetParam().creation);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    window_ = glfwCreateWindow(width, height, "tessera", nullptr, nullptr);
    if (!window_) GTEST_SKIP() << "no window with a context of " << GetParam().name;
    glfwMakeContextCurrent(window_);
    ASSERT_NE(gladLoadGLES2Context(&gl_, glfwGetProcAddress), 0);
  }
  void TearDown() override {
    if (window_) glfwDestroyWindow(window_);
    glfwTerminate();
  }

  Context adopt() {
    return gles::adopt_current(glfwGetProcAddress,
                               {.on_message =
                                    [](const Message& message) {
                                      if (message.level >= Message::Level::warning) ADD_FAILURE() << message.text;
                                    }},
                               {.check_state = true});
  }
  std::vector<std::uint8_t> pixel(int x, int y) {
    std::vector<std::uint8_t> value(4);
    gl_.ReadPixels(x, y, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, value.data());
    return value;
  }

  VirtualDisplay display_;
  GLFWwindow* window_ = nullptr;
  GladGLES2Context gl_{};
};

TEST_P(GlesWindow, DrawsFramesIntoTheWindow) {
  Context gpu = adopt();
  std::vector<float> gradient(height * width);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) gradient[static_cast<std::size_t>(y * width + x)] = static_cast<float>(y) / height;
  const Tensor image = gpu.tensor({height, width}, gradient).compute();
  for (int frame = 0; frame < 5; ++frame) {
    gl_.Viewport(0, 0, width, height);
    gl_.ClearColor(1, 0, 0, 1);
    gl_.Clear(GL_COLOR_BUFFER_BIT);
    const GlState before = state_of(gl_);
    // The upper half stays the host's.
    gles::to_texture(slice(image, {0, 0}, {height / 2, width}) * 1.0f,
                     gles::HostFramebuffer{0, width, height / 2, 0, 0}, {.flip_y = true});
    EXPECT_EQ(difference(before, state_of(gl_)), "");
    EXPECT_EQ(pixel(5, height - 1), (std::vector<std::uint8_t>{255, 0, 0, 255}));
    EXPECT_EQ(pixel(5, height / 2 - 1)[0], 0);  // row 0 is the upper one
    EXPECT_NEAR(pixel(5, 0)[0], 255.0 * (height / 2 - 1) / height, 1);
    EXPECT_EQ(pixel(5, 0)[3], 255);
    glfwSwapBuffers(window_);
  }
  EXPECT_EQ(gpu.stats().bytes_downloaded, 0u);
  EXPECT_EQ(gl_.GetError(), static_cast<GLenum>(GL_NO_ERROR));
}

TEST_P(GlesWindow, WorksOnTheWindowsThreadOnly) {
  Context gpu = adopt();
  const Tensor tensor = gpu.tensor({3}, {1, 2, 3}) * 2.0f;
  std::thread([&] { EXPECT_TESSERA_ERROR(tensor.read(), wrong_thread); }).join();
  EXPECT_EQ(tensor.read(), (std::vector<float>{2, 4, 6}));
}

TEST_P(GlesWindow, MovesToAnotherThreadWithItsContext) {
  Context gpu = adopt();
  const Tensor tensor = (gpu.tensor({3}, {1, 2, 3}) * 2.0f).compute();
  glfwMakeContextCurrent(nullptr);
  std::thread([&] {
    glfwMakeContextCurrent(window_);
    EXPECT_EQ((tensor + 1.0f).read(), (std::vector<float>{3, 5, 7}));
    glfwMakeContextCurrent(nullptr);
  }).join();
  EXPECT_TESSERA_ERROR(tensor.read(), wrong_thread, "no context is");
  glfwMakeContextCurrent(window_);
  EXPECT_EQ(tensor.read(), (std::vector<float>{2, 4, 6}));
}

// Another window's context has textures of the same names: nothing of them is touched.
TEST_P(GlesWindow, LeavesAnotherWindowsContextAlone) {
  GLFWwindow* const other = glfwCreateWindow(width, height, "another", nullptr, nullptr);
  ASSERT_NE(other, nullptr);
  std::optional<Context> gpu = adopt();
  std::vector<Tensor> tensors;
  for (const float value : {1.0f, 2.0f, 3.0f}) tensors.push_back((gpu->full({2, 2, 4}, value) + 0.0f).compute());
  const gles::GpuData lent = gles::data_to_gpu(tensors[0], {.custom_tex_shape = gles::TexShape{2, 2}});
  const Tensor pending = tensors[1] * 2.0f;

  glfwMakeContextCurrent(other);
  constexpr int textures = 32;
  std::vector<GLuint> names(textures);
  std::vector<float> contents(16, 7);
  gl_.GenTextures(textures, names.data());
  for (const GLuint name : names) {
    gl_.BindTexture(GL_TEXTURE_2D, name);
    gl_.TexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA32F, 2, 2);
    gl_.TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 2, 2, GL_RGBA, GL_FLOAT, contents.data());
  }
  const GLuint target = names[0];
  EXPECT_TESSERA_ERROR(pending.compute(), wrong_thread, "not current on this thread", "another context");
  EXPECT_TESSERA_ERROR(tensors[0].read(), wrong_thread);
  EXPECT_TESSERA_ERROR(gpu->wait(), wrong_thread);
  EXPECT_TESSERA_ERROR(gles::data_to_gpu(pending), wrong_thread);
  EXPECT_TESSERA_ERROR(gles::fence(*gpu), wrong_thread);
  EXPECT_TESSERA_ERROR(gles::from_texture(*gpu, {.texture = target, .width = 2, .height = 2}), wrong_thread);
  EXPECT_TESSERA_ERROR(gles::to_texture(tensors[0], {.texture = target, .width = 2, .height = 2}), wrong_thread);
  tensors.pop_back();
  gpu->trim();

  // Current again, the context works on.
  glfwMakeContextCurrent(window_);
  EXPECT_EQ(pending.read(), std::vector<float>(16, 4));
  EXPECT_EQ(tensors[0].read(), std::vector<float>(16, 1));

  glfwMakeContextCurrent(other);
  tensors.clear();
  gpu.reset();
  GLuint framebuffer = 0;
  gl_.GenFramebuffers(1, &framebuffer);
  gl_.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  for (const GLuint name : names) {
    ASSERT_TRUE(gl_.IsTexture(name)) << name;
    gl_.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0);
    std::vector<float> now(16);
    gl_.ReadPixels(0, 0, 2, 2, GL_RGBA, GL_FLOAT, now.data());
    EXPECT_EQ(now, contents) << name;
  }
  EXPECT_EQ(gl_.GetError(), static_cast<GLenum>(GL_NO_ERROR));
  glfwMakeContextCurrent(window_);
  glfwDestroyWindow(other);
}

// A context of tessera's own, on whichever driver, goes beside the window's or says why not.
TEST_P(GlesWindow, OwnContextsLeaveTheWindowsCurrent) {
  for (const TestDevice& device : gles_devices()) {
    const GLubyte* const version = gl_.GetString(GL_VERSION);
    const auto create = [&] { return Context::create({.prefer = {device.backend}, .driver = device.driver}); };
    // The system's EGL and GLX have one current context a thread between them.
    if (GetParam().creation == GLFW_NATIVE_CONTEXT_API && std::string(device.name).find("angle") == std::string::npos) {
      EXPECT_TESSERA_ERROR(create(), not_found, "a context of GLX is current");
      std::optional<Context> own;
      std::optional<gles::GpuData> lent;
      std::thread([&] {
        own = create();
        lent = gles::data_to_gpu(own->tensor({3}, {1, 2, 3}) * 2.0f);
        EXPECT_EQ(lent->tensor_ref.read(), (std::vector<float>{2, 4, 6}));
      }).join();
      EXPECT_TESSERA_ERROR((lent->tensor_ref + 1.0f).read(), wrong_thread, "a context of GLX is current");
      // What is let go here is deleted by the next call from elsewhere.
      const GLuint texture = lent->texture;
      lent.reset();
      own->trim();
      std::thread([&] {
        const auto is_texture = [&] { return GlesHost(gles::make_sharing_context(*own)).gl.IsTexture(texture); };
        EXPECT_TRUE(is_texture());
        own->wait();
        EXPECT_FALSE(is_texture());
      }).join();
    } else {
      Context own = create();
      const Tensor tensor = own.tensor({3}, {1, 2, 3}) * 2.0f;
      EXPECT_EQ(tensor.read(), (std::vector<float>{2, 4, 6})) << device.name;
    }
    EXPECT_EQ(glfwGetCurrentContext(), window_);
    EXPECT_EQ(gl_.GetString(GL_VERSION), version);
    EXPECT_EQ(gl_.GetError(), static_cast<GLenum>(GL_NO_ERROR));
  }
}

// A host that has shut down and unloaded its GL before it lets go of the rest. In a process of its own, where nothing
// else keeps the library loaded.
TEST_P(GlesWindow, MayGoBeforeTheTensors) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto let_go_late = [&] {
    std::optional<Context> gpu = adopt();
    std::optional<Tensor> computed = (gpu->full({3}, 2) * 2.0f).compute(), pending = *computed + 1.0f;
    glfwDestroyWindow(window_);
    glfwTerminate();
    EXPECT_TESSERA_ERROR(pending->read(), wrong_thread, "no context");
    computed.reset();
    pending.reset();
    gpu.reset();
    std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(let_go_late(), ::testing::ExitedWithCode(0), "");
}

// Without a loader.
TEST_P(GlesWindow, IsFoundByItself) {
  Context gpu = gles::adopt_current();
  EXPECT_EQ((gpu.tensor({3}, {1, 2, 3}) * 2.0f).read(), (std::vector<float>{2, 4, 6}));
}

TEST_P(GlesWindow, DepthAndStencilAreRead) {
  Context gpu = adopt();
  gl_.ClearColor(0.2f, 0, 0, 1);
  gl_.ClearDepthf(0.25f);
  gl_.ClearStencil(7);
  gl_.Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
  const GlState before = state_of(gl_);
  const gles::HostFramebuffer part{0, 2, 1, 5, 6};
  EXPECT_EQ(gles::from_texture(gpu, part, {.channels = "R", .dtype = DType::u8}).read(), std::vector<float>(2, 51));
  for (const float depth : gles::from_texture(gpu, part, {.channels = "D"}).read()) EXPECT_NEAR(depth, 0.25f, 1e-6f);
  EXPECT_EQ(gles::from_texture(gpu, part, {.channels = "S"}).read(), std::vector<float>(2, 7));
  EXPECT_EQ(difference(before, state_of(gl_)), "");
  EXPECT_EQ(gl_.GetError(), static_cast<GLenum>(GL_NO_ERROR));
}

// The host's choice of the window's buffers stays, where desktop OpenGL has a choice.
TEST_P(GlesWindow, KeepsTheDrawBuffersOfTheWindow) {
  if (!GetParam().is_desktop) GTEST_SKIP() << "OpenGL ES has the back buffer only";
  constexpr GLenum draw_buffer = 0x0C01, front_and_back = 0x0408, front_left = 0x0400, back_left = 0x0402;
  Context gpu = adopt();
  const Tensor image = (gpu.full({height, width}, 1) * 1.0f).compute();
  const auto set = reinterpret_cast<void (*)(GLenum)>(glfwGetProcAddress("glDrawBuffer"));
  const auto draw = [&] { gles::to_texture(image, gles::HostFramebuffer{0, width, height, 0, 0}); };
  const auto value_of = [&](GLenum name) {
    GLint value = 0;
    gl_.GetIntegerv(name, &value);
    return static_cast<GLenum>(value);
  };
  for (const GLenum chosen : {GLenum{GL_FRONT}, front_and_back, GLenum{GL_NONE}, GLenum{GL_BACK}}) {
    gl_.ClearColor(0, 0, 0, 1);
    set(GL_BACK);
    gl_.Clear(GL_COLOR_BUFFER_BIT);
    set(chosen);
    draw();
    EXPECT_EQ(value_of(draw_buffer), chosen);
    EXPECT_EQ(pixel(5, 5)[0], 255);  // of the back buffer, which is read
  }
  const GLenum several[] = {front_left, back_left};
  gl_.DrawBuffers(2, several);
  draw();
  EXPECT_EQ(value_of(GL_DRAW_BUFFER0), front_left);
  EXPECT_EQ(value_of(GL_DRAW_BUFFER1), back_left);
  EXPECT_EQ(gl_.GetError(), static_cast<GLenum>(GL_NO_ERROR));
}

INSTANTIATE_TEST_SUITE_P(With, GlesWindow,
                         ::testing::Values(Api{"egl", GLFW_EGL_CONTEXT_API}, Api{"glx", GLFW_NATIVE_CONTEXT_API},
                                           Api{"desktop_egl", GLFW_EGL_CONTEXT_API, true},
                                           Api{"desktop_glx", GLFW_NATIVE_CONTEXT_API, true}),
                         [](const auto& api) { return api.param.name; });

}  // namespace
}  // namespace tessera::test::gles_window_test
#else
TEST(GlesWindow, NeedsGlfw) { GTEST_SKIP() << "this build found no GLFW (libglfw3-dev)"; }
#endif
