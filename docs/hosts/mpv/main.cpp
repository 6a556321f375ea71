// tessera behind libmpv: a player draws each frame of a video into a texture, and tessera filters it.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <mpv/client.h>
#include <mpv/render_gl.h>

#include <cstdio>

#include <tessera/gles.h>
#include <tessera/tessera.h>

#include "check.h"

namespace gles = tessera::gles;

namespace {

constexpr int width = 320, height = 240;

void* find_function(void*, const char* name) { return reinterpret_cast<void*>(glfwGetProcAddress(name)); }

// True where there is a new frame, which mpv then draws into the canvas. Other threads of mpv only wake this one up.
bool draw_video(mpv_handle* player, mpv_render_context* renderer, const hosts::Canvas& canvas) {
  while (mpv_wait_event(player, 0)->event_id != MPV_EVENT_NONE) {
  }
  if ((mpv_render_context_update(renderer) & MPV_RENDER_UPDATE_FRAME) == 0) return false;
  mpv_opengl_fbo target{static_cast<int>(canvas.framebuffer), width, height, static_cast<int>(hosts::gl::rgba8)};
  int is_flipped = 1;  // the lower row first, as OpenGL has it in windows
  mpv_render_param parameters[] = {{MPV_RENDER_PARAM_OPENGL_FBO, &target},
                                   {MPV_RENDER_PARAM_FLIP_Y, &is_flipped},
                                   {MPV_RENDER_PARAM_INVALID, nullptr}};
  return mpv_render_context_render(renderer, parameters) >= 0;
}

}  // namespace

int main() {
  if (!glfwInit()) return 1;
  GLFWwindow* const window = glfwCreateWindow(width, height, "tessera behind libmpv", nullptr, nullptr);
  if (!window) return 1;
  glfwMakeContextCurrent(window);
  glfwSwapInterval(0);

  mpv_handle* const player = mpv_create();
  mpv_set_option_string(player, "vo", "libmpv");
  mpv_set_option_string(player, "terminal", "yes");
  mpv_set_option_string(player, "msg-level", "all=error");
  if (mpv_initialize(player) < 0) return 1;
  mpv_opengl_init_params gl_parameters{find_function, nullptr};
  mpv_render_param parameters[] = {{MPV_RENDER_PARAM_API_TYPE, const_cast<char*>(MPV_RENDER_API_TYPE_OPENGL)},
                                   {MPV_RENDER_PARAM_OPENGL_INIT_PARAMS, &gl_parameters},
                                   {MPV_RENDER_PARAM_INVALID, nullptr}};
  mpv_render_context* renderer = nullptr;
  if (mpv_render_context_create(&renderer, player, parameters) < 0) return 1;
  mpv_render_context_set_update_callback(
      renderer, [](void*) { glfwPostEmptyEvent(); }, nullptr);
  const char* load[] = {"loadfile", "av://lavfi:testsrc2=size=320x240:rate=60", nullptr};
  mpv_command(player, load);

  int result = 0;
  {
    hosts::Check check("mpv", glfwGetProcAddress);
    const hosts::Gl& gl = check.gl();
    const hosts::Canvas video(gl, width, height), screen(gl, width, height);
    tessera::Context gpu = gles::adopt_current(glfwGetProcAddress, {.on_message = check.listener()});
    const gles::HostTexture drawn{.texture = video.texture, .width = width, .height = height, .channels = "RGB"};
    const gles::HostTexture shown{.texture = screen.texture, .width = width, .height = height};

    while (!glfwWindowShouldClose(window) && check.wants_frames()) {
      glfwWaitEventsTimeout(0.1);
      if (!draw_video(player, renderer, video)) continue;
      check.before_tessera();

      gles::to_texture(hosts::filter(gles::from_texture(gpu, drawn)), shown);

      check.after_tessera(gpu, drawn, shown);
      screen.show(gl, width, height);
      glfwSwapBuffers(window);
      mpv_render_context_report_swap(renderer);
    }
    result = check.finish();
  }                                   // tessera's context goes here, while the window's is current
  mpv_render_context_free(renderer);  // needs the window's context, too
  mpv_terminate_destroy(player);
  glfwDestroyWindow(window);
  glfwTerminate();
  return result;
}
