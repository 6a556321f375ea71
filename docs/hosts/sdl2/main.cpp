// tessera in a window of SDL 2. `sdl2 es` asks for OpenGL ES instead of OpenGL.
#include <SDL.h>

#include <cstring>

#include <tessera/gles.h>
#include <tessera/tessera.h>

#include "check.h"

namespace gles = tessera::gles;

int main(int argc, char** argv) {
  constexpr int width = 320, height = 240;
  const bool is_es = argc > 1 && std::strcmp(argv[1], "es") == 0;
  SDL_SetHint(SDL_HINT_OPENGL_ES_DRIVER, is_es ? "1" : "0");  // EGL rather than GLX or WGL
  if (SDL_Init(SDL_INIT_VIDEO) != 0) return 1;
  SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, is_es ? SDL_GL_CONTEXT_PROFILE_ES : SDL_GL_CONTEXT_PROFILE_CORE);
  SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
  SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, is_es ? 0 : 3);
  SDL_Window* const window = SDL_CreateWindow("tessera in SDL 2", 0, 0, width, height, SDL_WINDOW_OPENGL);
  const SDL_GLContext context = SDL_GL_CreateContext(window);
  if (!context) return 1;
  SDL_GL_SetSwapInterval(0);

  int result = 0;
  {
    hosts::Check check("sdl2", SDL_GL_GetProcAddress);
    const hosts::Gl& gl = check.gl();
    const hosts::Canvas scene(gl, width, height), screen(gl, width, height);
    tessera::Context gpu = gles::adopt_current(SDL_GL_GetProcAddress, {.on_message = check.listener()});
    const gles::HostTexture drawn{.texture = scene.texture, .width = width, .height = height, .channels = "RGB"};
    const gles::HostTexture shown{.texture = screen.texture, .width = width, .height = height};

    for (bool is_open = true; is_open && check.wants_frames();) {
      for (SDL_Event event; SDL_PollEvent(&event);) is_open = is_open && event.type != SDL_QUIT;
      scene.draw(gl, check.frame());
      check.before_tessera();

      gles::to_texture(hosts::filter(gles::from_texture(gpu, drawn)), shown);

      check.after_tessera(gpu, drawn, shown);
      screen.show(gl, width, height);
      SDL_GL_SwapWindow(window);
    }
    result = check.finish();
  }  // tessera's context goes here, while the one of SDL is current
  SDL_GL_DeleteContext(context);
  SDL_DestroyWindow(window);
  SDL_Quit();
  return result;
}
