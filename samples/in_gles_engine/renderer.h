// The engine's frame: the scene is drawn into a texture, gets its bloom, and is shown with darkened corners. Like many
// engines it sets GL state only where it changes: whoever else works in its context must leave all of it as it was.
#pragma once
#include <glad/gles2.h>

#include <cstdint>
#include <vector>

#include "off_screen.h"
#include "support/window.h"

// tessera: begin
#include <optional>
#include <tessera/gles.h>
#include <tessera/tessera.h>
// tessera: end

class Renderer {
 public:
  // In the context that is current. It shows its frames in the window, or off screen in a texture of its own.
  Renderer(GlLoader, bool has_window, bool with_bloom);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  void resize(sample::Size);
  void draw(int frame);
  std::vector<std::uint8_t> target_pixels();  // off screen: the last frame, RGBA, from the top
  void report();                              // GL's errors, and what the frames have cost

 private:
  struct Target {
    GLuint texture = 0, framebuffer = 0;
  };
  GLuint program(const char* vertex_glsl, const char* fragment_glsl);
  Target target();
  void drop(Target&);
  void draw_scene(int frame);
  void show();

  // State, set where it changes.
  void use_program(GLuint);
  void use_framebuffer(GLuint);
  void use_frame_texture(GLuint);  // of unit 1; unit 0 has the cube's texture for good
  void set_scene_state(bool on);   // depth test and culling
  GLuint used_program_ = 0, used_framebuffer_ = 0, used_frame_texture_ = 0;
  bool has_scene_state_ = false;

  GladGLES2Context gl_{};
  bool has_window_;
  sample::Size size_{};
  GLuint scene_program_ = 0, show_program_ = 0, vertex_array_ = 0, buffers_[3]{}, cube_texture_ = 0, depth_ = 0;
  Target scene_, off_screen_;
  // tessera: begin
  std::optional<tessera::Context> tensors_;  // in the engine's GL context; none without bloom
  Target bloomed_;
  // tessera: end
};
