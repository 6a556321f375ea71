// tessera beside Dear ImGui: a picture that tessera has filtered, in one of its windows.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <backends/imgui_impl_opengl3.h>

#include <cstdint>

#include <tessera/gles.h>
#include <tessera/tessera.h>

#include "check.h"

namespace gles = tessera::gles;

int main() {
  constexpr int width = 320, height = 240;
  if (!glfwInit()) return 1;
  GLFWwindow* const window = glfwCreateWindow(width + 60, height + 80, "tessera beside Dear ImGui", nullptr, nullptr);
  if (!window) return 1;
  glfwMakeContextCurrent(window);
  glfwSwapInterval(0);
  ImGui::CreateContext();
  ImGui_ImplOpenGL3_Init("#version 130");
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;

  int result = 0;
  {
    hosts::Check check("imgui", glfwGetProcAddress);
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
      double x = 0, y = 0;
      glfwGetCursorPos(window, &x, &y);
      io.DisplaySize = {width + 60, height + 80};  // Debian's library has no backend of GLFW
      io.MousePos = {static_cast<float>(x), static_cast<float>(y)};
      io.MouseDown[0] = glfwGetMouseButton(window, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS;
      ImGui_ImplOpenGL3_NewFrame();
      ImGui::NewFrame();
      ImGui::SetNextWindowPos({10, 10}, ImGuiCond_Once);
      ImGui::Begin("filtered by tessera", nullptr, ImGuiWindowFlags_AlwaysAutoResize);
      ImGui::Image(reinterpret_cast<ImTextureID>(std::uintptr_t{screen.texture}), {width, height}, {0, 1}, {1, 0});
      ImGui::Text("frame %d", check.frame());
      ImGui::End();
      ImGui::Render();
      gl.ClearColor(0.3f, 0.3f, 0.35f, 1);
      gl.Clear(hosts::gl::color_buffer_bit);
      ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
      glfwSwapBuffers(window);
      glfwPollEvents();
    }
    result = check.finish();
  }  // tessera's context goes here, while the window's is current
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window);
  glfwTerminate();
  return result;
}
