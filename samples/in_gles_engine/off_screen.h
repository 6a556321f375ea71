// An OpenGL ES 3 context without a window or a display.
#pragma once

using GlLoader = void* (*)(const char* name);  // finds a GL function of the current context

class OffScreen {
 public:
  OffScreen();  // of the library that $ENGINE_EGL names, or libEGL.so.1; current on this thread from now on
  ~OffScreen();
  OffScreen(const OffScreen&) = delete;
  OffScreen& operator=(const OffScreen&) = delete;

  static void* get_proc_address(const char* name);

 private:
  void *display_ = nullptr, *context_ = nullptr;
};
