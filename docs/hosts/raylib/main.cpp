// tessera in raylib: a scene is drawn into a render texture, tessera filters it, and raylib shows the result.
#include <EGL/egl.h>
#include <raylib.h>

#include <tessera/gles.h>
#include <tessera/tessera.h>

#include "check.h"

namespace gles = tessera::gles;

namespace {

constexpr int width = 320, height = 240;

void draw_scene(const RenderTexture2D& scene, int frame) {
  constexpr Color colors[] = {{230, 41, 55, 255}, {253, 249, 0, 255}, {0, 228, 48, 255}, {0, 121, 241, 255}};
  BeginTextureMode(scene);
  ClearBackground({20, 40, 60, 255});
  for (int i = 0; i < 4; ++i) {
    const int x = (frame * (i + 1) + 80 * i) % width;
    DrawCircle(x, 40 + 50 * i, 30, colors[i]);
    DrawRectangle(width - x, 20 + 55 * i, 50, 30, colors[3 - i]);
  }
  EndTextureMode();  // draws all of it: raylib has only collected until here
}

}  // namespace

int main() {
  SetTraceLogLevel(LOG_WARNING);
  InitWindow(width, height, "tessera in raylib");
  if (!IsWindowReady()) return 1;
  int result = 0;
  {
    const RenderTexture2D scene = LoadRenderTexture(width, height), screen = LoadRenderTexture(width, height);
    hosts::Check check("raylib", eglGetProcAddress);
    tessera::Context gpu = gles::adopt_current({.on_message = check.listener()});
    const gles::HostTexture drawn{.texture = scene.texture.id, .width = width, .height = height, .channels = "RGB"};
    const gles::HostTexture shown{.texture = screen.texture.id, .width = width, .height = height};

    while (!WindowShouldClose() && check.wants_frames()) {
      draw_scene(scene, check.frame());
      check.before_tessera();

      gles::to_texture(hosts::filter(gles::from_texture(gpu, drawn)), shown);

      check.after_tessera(gpu, drawn, shown);
      BeginDrawing();
      DrawTextureRec(screen.texture, {0, 0, width, -height}, {0, 0}, {255, 255, 255, 255});  // the lower row is first
      EndDrawing();
    }
    result = check.finish();
    UnloadRenderTexture(scene);
    UnloadRenderTexture(screen);
  }  // tessera's context goes here, while the one of raylib is current
  CloseWindow();
  return result;
}
