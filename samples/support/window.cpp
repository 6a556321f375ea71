#include "support/window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <stdexcept>
#include <string>

namespace sample {
namespace {

[[noreturn]] void fail(const char* what) {
  const char* reason = nullptr;
  glfwGetError(&reason);
  glfwTerminate();
  throw std::runtime_error(std::string(what) + (reason ? std::string(": ") + reason : std::string()) +
                           "; --headless needs no display");
}

}  // namespace

Window::Window(const char* title, Size size, Api api) {
  if (!glfwInit()) fail("no window system");
  glfwWindowHint(GLFW_CLIENT_API, api == Api::gles3 ? GLFW_OPENGL_ES_API : GLFW_NO_API);
  if (api == Api::gles3) {
    glfwWindowHint(GLFW_CONTEXT_CREATION_API, GLFW_EGL_CONTEXT_API);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
  }
  window_ = glfwCreateWindow(size.width, size.height, title, nullptr, nullptr);
  if (!window_) fail("no window");
  glfwSetWindowUserPointer(window_, this);
  glfwSetKeyCallback(window_, [](GLFWwindow* window, int key, int, int action, int) {
    if (action != GLFW_PRESS) return;
    const auto& self = *static_cast<Window*>(glfwGetWindowUserPointer(window));
    if (key == GLFW_KEY_ESCAPE) glfwSetWindowShouldClose(window, GLFW_TRUE);
    else if (self.on_key) self.on_key(key);
  });
  if (api == Api::gles3) glfwMakeContextCurrent(window_);
}

Window::~Window() {
  glfwDestroyWindow(window_);
  glfwTerminate();
}

bool Window::is_open() {
  glfwPollEvents();
  const auto has_pixels = [&] {
    return size().width > 0 && size().height > 0 && !glfwGetWindowAttrib(window_, GLFW_ICONIFIED);
  };
  while (!has_pixels() && !glfwWindowShouldClose(window_)) glfwWaitEvents();
  return !glfwWindowShouldClose(window_);
}

Size Window::size() const {
  Size size{};
  glfwGetFramebufferSize(window_, &size.width, &size.height);
  return size;
}

}  // namespace sample
