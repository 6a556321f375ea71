// tessera in a window of GLFW. `glfw es` asks for OpenGL ES instead of OpenGL.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <cstring>

#include <tessera/gles.h>
#include <tessera/tessera.h>

#include "check.h"

namespace gles = tessera::gles;

int main(int argc, char** argv) {
  constexpr int width = 320, height = 240;
  if (!glfwInit()) return 1;
  if (argc > 1 && std::strcmp(argv[1], "es") == 0) {
    glfwWindowHint(GLFW_CLIENT_API, GLFW_OPENGL_ES_API);
    glfwWindowHint(GLFW_CONTEXT_CREATION_API, GLFW_EGL_CONTEXT_API);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  }
  GLFWwindow* const window = glfwCreateWindow(width, height, "tessera in GLFW", nullptr, nullptr);
  if (!window) return 1;
  glfwMakeContextCurrent(window);
  glfwSwapInterval(0);

  int result = 0;
  {
    hosts::Check check("glfw", glfwGetProcAddress);
    const hosts::Gl& gl = check.gl();
    const hosts::Canvas scene(gl, width, height), screen(gl, width, height);
    tessera::Context gpu = gles::adopt_current(glfwGetProcAddress, {.on_message = check.listener()});
    const gles::HostTexture drawn{.texture = scene.texture, .width = width, .height = height, .channels = "RGB"};
    const gles::HostTexture shown{.texture = screen.texture, .width = width, .height = height};

    while (!glfwWindowShouldClose(window) && check.wants_frames()) {
      scene.draw(gl, check.frame());
      check.before_tessera();

      gles::to_texture(hosts::filter(gles::from_texture(gpu, drawn)), shown);

      check.after_tessera(gpu, drawn, shown);
      screen.show(gl, width, height);
      glfwSwapBuffers(window);
      glfwPollEvents();
    }
    result = check.finish();
  }  // tessera's context goes here, while the window's is current
  glfwDestroyWindow(window);
  glfwTerminate();
  return result;
}
