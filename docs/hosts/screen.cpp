#include "screen.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <thread>

namespace hosts {
namespace {

struct Screen {
  int width = 0, height = 0;
  std::vector<unsigned long> pixels{};  // 0xRRGGBB

  explicit Screen(Display* display) {
    const int number = DefaultScreen(display);
    width = DisplayWidth(display, number);
    height = DisplayHeight(display, number);
    XImage* const image = XGetImage(display, RootWindow(display, number), 0, 0, static_cast<unsigned>(width),
                                    static_cast<unsigned>(height), AllPlanes, ZPixmap);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) pixels.push_back(XGetPixel(image, x, y) & 0xffffff);
    XDestroyImage(image);
  }

  bool is_at(int left, int top, const std::vector<std::uint8_t>& picture, int wide, int high, bool is_flipped) const {
    for (int y = 0; y < high; ++y)
      for (int x = 0; x < wide; ++x) {
        const std::size_t at = static_cast<std::size_t>((top + (is_flipped ? high - 1 - y : y)) * width + left + x);
        const std::uint8_t* const expected = &picture[static_cast<std::size_t>(y * wide + x) * 4];
        for (int channel = 0; channel < 3; ++channel)
          if (std::abs(static_cast<int>(pixels[at] >> (16 - 8 * channel) & 0xff) - expected[channel]) > 2) return false;
      }
    return true;
  }

  bool has(const std::vector<std::uint8_t>& picture, int wide, int high) const {
    for (int top = 0; top + high <= height; ++top)
      for (int left = 0; left + wide <= width; ++left)
        if (is_at(left, top, picture, wide, high, true) || is_at(left, top, picture, wide, high, false)) return true;
    return false;
  }
};

}  // namespace

bool is_on_screen(const std::vector<std::uint8_t>& pixels, int width, int height) {
  Display* const display = XOpenDisplay(nullptr);
  if (!display) return false;
  bool is_found = false;
  for (int attempt = 0; attempt < 30 && !is_found; ++attempt) {
    is_found = Screen(display).has(pixels, width, height);
    if (!is_found) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  XCloseDisplay(display);
  return is_found;
}

}  // namespace hosts
