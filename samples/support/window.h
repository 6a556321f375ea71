// A GLFW window that ends with Escape, and that may be resized and minimised.
#pragma once
#include <functional>

struct GLFWwindow;

namespace sample {

struct Size {
  int width, height;
  bool operator==(const Size&) const = default;
};

class Window {
 public:
  enum class Api { none, gles3 };        // gles3: with an EGL context, which is made current
  Window(const char* title, Size, Api);  // throws std::runtime_error where there is no display
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  bool is_open();  // takes the events that are there; sleeps while the window has no pixels
  Size size() const;
  GLFWwindow* handle() const { return window_; }

  std::function<void(int key)> on_key;  // GLFW_KEY_…, pressed; Escape closes the window by itself

 private:
  GLFWwindow* window_;
};

}  // namespace sample
