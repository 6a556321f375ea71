// An X server's screen, as its user sees it: windows, their pictures, keys.
#pragma once
#include <cstdint>
#include <string>

#include "support/pictures.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#undef None
#undef Success

namespace tessera::test {

class Screen {
 public:
  Screen() : display_(XOpenDisplay(nullptr)) {
    XSetErrorHandler([](Display*, XErrorEvent*) { return 0; });  // windows come and go while they are looked at
  }
  ~Screen() {
    if (display_) XCloseDisplay(display_);
  }
  bool is_open() const { return display_ != nullptr; }

  // By how its title begins.
  ::Window find(const std::string& title, ::Window under = 0) {
    ::Window root = 0, parent = 0, *children = nullptr;
    unsigned count = 0;
    ::Window found = 0;
    if (!XQueryTree(display_, under ? under : DefaultRootWindow(display_), &root, &parent, &children, &count)) return 0;
    for (unsigned i = 0; i < count && !found; ++i) {
      char* name = nullptr;
      if (XFetchName(display_, children[i], &name) && name && std::string(name).starts_with(title)) found = children[i];
      XFree(name);
      if (!found) found = find(title, children[i]);
    }
    XFree(children);
    return found;
  }

  Picture of(::Window window) {
    XWindowAttributes attributes{};
    if (!window || !XGetWindowAttributes(display_, window, &attributes) || attributes.map_state != IsViewable)
      return {};
    XImage* image = XGetImage(display_, window, 0, 0, static_cast<unsigned>(attributes.width),
                              static_cast<unsigned>(attributes.height), AllPlanes, ZPixmap);
    if (!image) return {};
    Picture picture{attributes.width, attributes.height, {}};
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x) {
        const unsigned long pixel = XGetPixel(image, x, y);
        for (const int shift : {16, 8, 0}) picture.rgb.push_back(static_cast<std::uint8_t>(pixel >> shift));
      }
    XDestroyImage(image);
    return picture;
  }

  void resize(::Window window, int width, int height) {
    XResizeWindow(display_, window, static_cast<unsigned>(width), static_cast<unsigned>(height));
    XFlush(display_);
  }
  std::string title_of(::Window window) {
    char* name = nullptr;
    if (!window || !XFetchName(display_, window, &name) || !name) return "";
    const std::string title = name;
    XFree(name);
    return title;
  }
  // A key, pressed and let go.
  void press(::Window window, KeySym key) {
    for (const int type : {KeyPress, KeyRelease}) {
      XEvent event{};
      event.xkey.type = type;
      event.xkey.display = display_;
      event.xkey.window = window;
      event.xkey.root = DefaultRootWindow(display_);
      event.xkey.same_screen = True;
      event.xkey.keycode = XKeysymToKeycode(display_, key);
      XSendEvent(display_, window, True, type == KeyPress ? KeyPressMask : KeyReleaseMask, &event);
    }
    XFlush(display_);
  }
  // What a window manager does when it minimises a window, or brings it back.
  void set_minimised(::Window window, bool is_minimised) {
    const Atom wm_state = XInternAtom(display_, "WM_STATE", False);
    const long state[2] = {is_minimised ? IconicState : NormalState, 0};
    XChangeProperty(display_, window, wm_state, wm_state, 32, PropModeReplace,
                    reinterpret_cast<const unsigned char*>(state), 2);
    if (is_minimised) XUnmapWindow(display_, window);
    else XMapWindow(display_, window);
    XFlush(display_);
  }
  void close(::Window window) {  // as a window manager does it
    XEvent event{};
    event.xclient.type = ClientMessage;
    event.xclient.window = window;
    event.xclient.message_type = XInternAtom(display_, "WM_PROTOCOLS", False);
    event.xclient.format = 32;
    event.xclient.data.l[0] = static_cast<long>(XInternAtom(display_, "WM_DELETE_WINDOW", False));
    XSendEvent(display_, window, False, NoEventMask, &event);
    XFlush(display_);
  }

 private:
  Display* display_;
};

}  // namespace tessera::test
