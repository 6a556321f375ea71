// The video filter in a page: the page's script asks for each frame, tessera draws it into the page's canvas, in the
// canvas's own WebGL2 context.
#include <emscripten/emscripten.h>
#include <emscripten/html5.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "pipeline.h"
#include <tessera/gles.h>
#include <tessera/tessera.h>

namespace {

using namespace video;
using Clock = std::chrono::steady_clock;

struct Page {
  tessera::Context gpu;
  std::optional<Pipeline> pipeline{};
  Size size{};
  std::vector<std::string> filters{};
};
std::unique_ptr<Page> page;
EMSCRIPTEN_WEBGL_CONTEXT_HANDLE canvas = 0;
std::string answer;  // the text that the last call gave

const char* say(std::string text) {
  answer = std::move(text);
  return answer.c_str();
}

// Calls `work`; the page shows what went wrong, as a sentence that begins with "!".
template <class Work>
const char* guarded(const Work& work) {
  try {
    return say(work());
  } catch (const std::exception& error) {
    return say(std::string("! ") + error.what());
  }
}

FramePtr scene_frame(int number) {
  auto frame = std::make_shared<Frame>();
  frame->number = number;
  frame->size = page->size;
  return frame;
}

// A canvas gives four bytes a pixel.
FramePtr picture_frame(int number, const std::uint8_t* rgba) {
  auto frame = std::make_shared<Frame>();
  frame->layout = Frame::Layout::rgb;
  frame->number = number;
  frame->size = page->size;
  const auto pixels = static_cast<std::size_t>(page->size.width) * static_cast<std::size_t>(page->size.height);
  std::vector<std::uint8_t>& rgb = frame->planes[0];
  rgb.resize(3 * pixels);
  for (std::size_t i = 0; i < pixels; ++i) std::memcpy(&rgb[3 * i], rgba + 4 * i, 3);
  return frame;
}

}  // namespace

extern "C" {

// Opens the canvas with this selector; gives the device's name.
EMSCRIPTEN_KEEPALIVE const char* page_open(const char* selector) {
  return guarded([&] {
    page.reset();
    EmscriptenWebGLContextAttributes attributes;
    emscripten_webgl_init_context_attributes(&attributes);
    attributes.majorVersion = 2;
    attributes.alpha = attributes.depth = attributes.antialias = false;
    canvas = emscripten_webgl_create_context(selector, &attributes);
    if (canvas <= 0) throw std::runtime_error("this browser gives no WebGL2 context");
    emscripten_webgl_make_context_current(canvas);
    page = std::make_unique<Page>(Page{tessera::gles::adopt_current()});
    return page->gpu.device().name;
  });
}

EMSCRIPTEN_KEEPALIVE const char* page_filters() {
  return guarded([] {
    std::string names;
    for (const FilterEntry& filter : filters())
      if (std::string(filter.name) != "background" && std::string(filter.name) != "upscale")
        names += (names.empty() ? "" : "\n") + std::string(filter.name) + "\t" + filter.what_it_does;
    return names;
  });
}

EMSCRIPTEN_KEEPALIVE const char* page_set(int width, int height, const char* names) {
  return guarded([&] {
    page->size = {width, height};
    page->filters = parse_filters(names);
    page->pipeline.emplace(page->gpu, page->size, page->filters);
    return std::string();
  });
}

// Draws a frame: of the built-in scene, or of a picture of the size that was set. Gives the milliseconds of the host.
EMSCRIPTEN_KEEPALIVE const char* page_draw(int number, const std::uint8_t* rgba) {
  return guarded([&] {
    const Clock::time_point begin = Clock::now();
    emscripten_webgl_make_context_current(canvas);
    const Filtered filtered = (*page->pipeline)(rgba ? picture_frame(number, rgba) : scene_frame(number));
    tessera::gles::to_texture(filtered.image,
                              tessera::gles::HostFramebuffer{.width = page->size.width, .height = page->size.height},
                              {.flip_y = true, .also_compute = filtered.kept});
    return std::to_string(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  });
}

EMSCRIPTEN_KEEPALIVE const char* page_stats() {
  return guarded([] {
    const tessera::Stats stats = page->gpu.stats();
    return std::to_string(stats.dispatches) + " dispatches, " + std::to_string(stats.kernels_compiled) +
           " kernels compiled";
  });
}

}  // extern "C"

int main() {}
