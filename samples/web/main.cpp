// The functions that the page's script calls (program.js). Each gives a text; one that begins with "! " tells what went
// wrong. Calls that wait for WebGPU suspend the program, and the script makes the next one only after that.
#include <emscripten/emscripten.h>

#include <array>
#include <chrono>
#include <stdexcept>

#include "view.h"

namespace {

using Clock = std::chrono::steady_clock;

std::array<std::optional<View>, 2> views;
std::string answer;  // the text that the last call gave

template <class Work>
const char* guarded(const Work& work) {
  try {
    answer = work();
  } catch (const std::exception& error) {
    answer = std::string("! ") + error.what();
  }
  return answer.c_str();
}

View& view_at(int index) {
  std::optional<View>& view = views.at(static_cast<std::size_t>(index));
  if (!view) throw std::runtime_error("this view is not open");
  return *view;
}

std::string text_of(video::Size size) { return std::to_string(size.width) + "x" + std::to_string(size.height); }

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE const char* page_filters() {
  return guarded([] {
    std::string names;
    for (const video::FilterEntry& filter : video::filters())
      names += (names.empty() ? "" : "\n") + std::string(filter.name) + "\t" + filter.what_it_does;
    return names;
  });
}

// Opens a view on a backend, or moves it there with all that is alive. Gives the device's name.
EMSCRIPTEN_KEEPALIVE const char* page_use(int index, const char* backend) {
  return guarded([&] {
    const auto kind = std::string(backend) == "webgpu" ? tessera::BackendKind::webgpu : tessera::BackendKind::gles;
    std::optional<View>& view = views.at(static_cast<std::size_t>(index));
    if (view) view->use(kind);
    else view.emplace(kind);
    return view->gpu().device().name;
  });
}
EMSCRIPTEN_KEEPALIVE const char* page_close(int index) {
  return guarded([&] {
    views.at(static_cast<std::size_t>(index)).reset();
    return std::string();
  });
}
EMSCRIPTEN_KEEPALIVE const char* page_handle(int index) {
  return guarded([&] { return std::to_string(view_at(index).handle()); });
}

// Gives the size of what will be drawn, "960x540".
EMSCRIPTEN_KEEPALIVE const char* page_set(int index, int width, int height, const char* filters) {
  return guarded([&] { return text_of(view_at(index).set({width, height}, video::parse_filters(filters))); });
}

// Gives the milliseconds that the program took, without those of the device.
EMSCRIPTEN_KEEPALIVE const char* page_draw(int index, int number, unsigned source, int width, int height,
                                           unsigned target) {
  return guarded([&] {
    const Clock::time_point begin = Clock::now();
    view_at(index).draw(number, {source, {width, height}}, target);
    return std::to_string(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  });
}

// Gives what a view has: "8 tensors, 12.3 MB; …".
EMSCRIPTEN_KEEPALIVE const char* page_stats(int index) {
  return guarded([&] {
    View& view = view_at(index);
    const tessera::Stats stats = view.gpu().stats();
    const tessera::MemoryInfo memory = view.gpu().memory();
    return std::to_string(memory.num_tensors) + " tensors, " + std::to_string(memory.bytes_in_use >> 20) + " MB, " +
           std::to_string(stats.kernels_compiled) + " kernels, " + std::to_string(stats.dispatches) + " dispatches";
  });
}

}  // extern "C"

int main() {}
