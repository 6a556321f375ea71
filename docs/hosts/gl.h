// The GL functions that the recipes call themselves, found by the host's own loader: no GL header, so that those of Qt,
// GTK and the like may be included as well. All are there in OpenGL ES 3.0 and in OpenGL 3.3.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

#include <tessera/gles.h>

namespace hosts {

struct Gl {
  tessera::gles::Loader find;
  explicit Gl(tessera::gles::Loader loader) : find(std::move(loader)) {}

  struct Address {
    void* found;
    template <class Function>
    operator Function*() const {
      return reinterpret_cast<Function*>(found);
    }
  };
  Address load(const char* name) const {
    void* const found = find(name);
    if (!found) throw std::runtime_error(std::string("the host's loader does not find ") + name);
    return {found};
  }

  void (*ActiveTexture)(unsigned unit) = load("glActiveTexture");
  void (*BindBuffer)(unsigned target, unsigned buffer) = load("glBindBuffer");
  void (*BindFramebuffer)(unsigned target, unsigned framebuffer) = load("glBindFramebuffer");
  void (*BindTexture)(unsigned target, unsigned texture) = load("glBindTexture");
  void (*BlitFramebuffer)(int x0, int y0, int x1, int y1, int to_x0, int to_y0, int to_x1, int to_y1, unsigned mask,
                          unsigned filter) = load("glBlitFramebuffer");
  void (*Clear)(unsigned mask) = load("glClear");
  void (*ClearColor)(float red, float green, float blue, float alpha) = load("glClearColor");
  void (*DeleteFramebuffers)(int count, const unsigned* names) = load("glDeleteFramebuffers");
  void (*DeleteTextures)(int count, const unsigned* names) = load("glDeleteTextures");
  void (*Disable)(unsigned capability) = load("glDisable");
  void (*Enable)(unsigned capability) = load("glEnable");
  void (*FramebufferTexture2D)(unsigned target, unsigned attachment, unsigned texture_target, unsigned texture,
                               int level) = load("glFramebufferTexture2D");
  void (*GenFramebuffers)(int count, unsigned* names) = load("glGenFramebuffers");
  void (*GenTextures)(int count, unsigned* names) = load("glGenTextures");
  unsigned (*GetError)() = load("glGetError");
  void (*GetIntegerv)(unsigned name, int* values) = load("glGetIntegerv");
  unsigned char (*IsEnabled)(unsigned capability) = load("glIsEnabled");
  void (*PixelStorei)(unsigned name, int value) = load("glPixelStorei");
  void (*ReadPixels)(int x, int y, int width, int height, unsigned format, unsigned type,
                     void* pixels) = load("glReadPixels");
  void (*Scissor)(int x, int y, int width, int height) = load("glScissor");
  void (*TexImage2D)(unsigned target, int level, int internal_format, int width, int height, int border,
                     unsigned format, unsigned type, const void* pixels) = load("glTexImage2D");
  void (*TexParameteri)(unsigned target, unsigned name, int value) = load("glTexParameteri");
};

namespace gl {
inline constexpr unsigned color_attachment_0 = 0x8CE0, color_buffer_bit = 0x4000, draw_framebuffer_binding = 0x8CA6,
                          framebuffer = 0x8D40, linear = 0x2601, nearest = 0x2600, read_framebuffer = 0x8CA8,
                          rgba = 0x1908, rgba8 = 0x8058, scissor_test = 0x0C11, texture_2d = 0x0DE1,
                          texture_mag_filter = 0x2800, texture_min_filter = 0x2801, unsigned_byte = 0x1401;
}  // namespace gl

// A texture of RGBA8, with a framebuffer to draw into it.
struct Canvas {
  unsigned texture = 0, framebuffer = 0;
  int width, height;

  Canvas(const Gl& gl, int wide, int high) : width(wide), height(high) {
    gl.GenTextures(1, &texture);
    gl.BindTexture(gl::texture_2d, texture);
    gl.TexImage2D(gl::texture_2d, 0, gl::rgba8, width, height, 0, gl::rgba, gl::unsigned_byte, nullptr);
    gl.TexParameteri(gl::texture_2d, gl::texture_min_filter, gl::nearest);  // it has one level
    gl.TexParameteri(gl::texture_2d, gl::texture_mag_filter, gl::nearest);
    gl.GenFramebuffers(1, &framebuffer);
    gl.BindFramebuffer(gl::framebuffer, framebuffer);
    gl.FramebufferTexture2D(gl::framebuffer, gl::color_attachment_0, gl::texture_2d, texture, 0);
    gl.BindFramebuffer(gl::framebuffer, 0);
    gl.BindTexture(gl::texture_2d, 0);
  }

  // What a host without drawing of its own draws: rectangles that move, each in a colour of its own.
  void draw(const Gl& gl, int frame) const {
    gl.BindFramebuffer(gl::framebuffer, framebuffer);
    gl.ClearColor(0.1f, 0.2f, 0.3f, 1);
    gl.Clear(gl::color_buffer_bit);
    gl.Enable(gl::scissor_test);
    for (int i = 0; i < 7; ++i) {
      gl.Scissor((frame * (i + 1) + i * 53) % width, i * height / 8, width / 5, height / 4);
      gl.ClearColor(static_cast<float>(i % 3) / 2, static_cast<float>(i) / 7, static_cast<float>((i + 1) % 4) / 3, 1);
      gl.Clear(gl::color_buffer_bit);
    }
    gl.Disable(gl::scissor_test);
    gl.BindFramebuffer(gl::framebuffer, 0);
  }

  // Into the window, whatever its size is.
  void show(const Gl& gl, int window_width, int window_height) const {
    gl.BindFramebuffer(gl::read_framebuffer, framebuffer);
    gl.BlitFramebuffer(0, 0, width, height, 0, 0, window_width, window_height, gl::color_buffer_bit, gl::linear);
    gl.BindFramebuffer(gl::read_framebuffer, 0);
  }

  void drop(const Gl& gl) const {
    gl.DeleteFramebuffers(1, &framebuffer);
    gl.DeleteTextures(1, &texture);
  }
};

}  // namespace hosts
