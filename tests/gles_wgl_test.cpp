// A host of WGL, on Windows.
#include <windows.h>

#include <GL/gl.h>
#include <gmock/gmock.h>

#include "support/devices.h"
#include <tessera/gles.h>

namespace tessera::test::gles_wgl_test {
namespace {

using ::testing::ElementsAre;

// A window that is never shown, with a context of OpenGL 3.3 that is current while this lives.
class WglHost {
 public:
  WglHost() {
    window_ = CreateWindowA("STATIC", "", WS_POPUP, 0, 0, 16, 16, nullptr, nullptr, nullptr, nullptr);
    pixels_ = GetDC(window_);
    PIXELFORMATDESCRIPTOR wanted{};
    wanted.nSize = sizeof wanted;
    wanted.nVersion = 1;
    wanted.dwFlags = PFD_DRAW_TO_WINDOW | PFD_SUPPORT_OPENGL;
    wanted.cColorBits = 32;
    SetPixelFormat(pixels_, ChoosePixelFormat(pixels_, &wanted), &wanted);
    const HGLRC first = wglCreateContext(pixels_);
    if (!first) return;
    wglMakeCurrent(pixels_, first);
    using Create = HGLRC(WINAPI*)(HDC, HGLRC, const int*);
    const int attributes[] = {0x2091, 3, 0x2092, 3, 0x9126, 1, 0};  // WGL_CONTEXT_…: version 3.3, the core profile
    if (void* const create = reinterpret_cast<void*>(wglGetProcAddress("wglCreateContextAttribsARB")))
      context_ = reinterpret_cast<Create>(create)(pixels_, nullptr, attributes);
    wglMakeCurrent(pixels_, context_);
    wglDeleteContext(first);
  }
  ~WglHost() {
    wglMakeCurrent(nullptr, nullptr);
    wglDeleteContext(context_);
    ReleaseDC(window_, pixels_);
    DestroyWindow(window_);
  }
  WglHost(const WglHost&) = delete;
  WglHost& operator=(const WglHost&) = delete;

  bool is_there() const { return context_ != nullptr; }
  void make_current() const { wglMakeCurrent(pixels_, context_); }

 private:
  HWND window_ = nullptr;
  HDC pixels_ = nullptr;
  HGLRC context_ = nullptr;
};

TEST(WglHosts, AreAdoptedWithoutALoader) {
  const WglHost host;
  if (!host.is_there()) GTEST_SKIP() << "this system has no OpenGL 3.3";
  Context gpu = gles::adopt_current({.on_message =
                                         [](const Message& message) {
                                           if (message.level >= Message::Level::warning) ADD_FAILURE() << message.text;
                                         }},
                                    {.check_state = true});
  const Tensor x = gpu.tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(matmul(x, x).read(), ElementsAre(7, 10, 15, 22));

  GLuint texture = 0;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  constexpr GLint rgba8 = 0x8058;
  const GLubyte pixel[] = {0, 255, 0, 255};
  glTexImage2D(GL_TEXTURE_2D, 0, rgba8, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  const Tensor frame = gles::from_texture(gpu, {.texture = texture, .width = 1, .height = 1});
  EXPECT_THAT((1.0f - frame).read(), ElementsAre(1, 0, 1, 0));

  wglMakeCurrent(nullptr, nullptr);
  EXPECT_TESSERA_ERROR((x + 1.0f).read(), wrong_thread, "no context is");
  host.make_current();
  EXPECT_THAT((x + 1.0f).read(), ElementsAre(2, 3, 4, 5));
  glDeleteTextures(1, &texture);
}

TEST(WglHosts, AreToldThatNoContextIsCurrent) {
  EXPECT_TESSERA_ERROR(gles::adopt_current(), invalid_argument, "WGL", "current on this thread");
}

}  // namespace
}  // namespace tessera::test::gles_wgl_test
