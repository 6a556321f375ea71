// A backend that shows images in a window. Several may be made for one window; one at a time has it.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "pipeline.h"
#include <tessera/context.h>

namespace video {

struct Presented {
  bool is_shown;  // false: the window or the device has changed under it, and the image is to be shown again
  std::chrono::steady_clock::duration work;  // of tessera on the host, without what waits for the window
};

class Presenter {
 public:
  virtual ~Presenter() = default;
  virtual tessera::Context& context() = 0;
  virtual void show(Size) = 0;  // takes the window, or follows its new size
  virtual void hide() = 0;      // leaves the window to another one
  // Computes and shows the image, [height,width,3] of the window's size.
  virtual Presented present(const Filtered&) = 0;
  // After Error device_lost, and when every tensor of the context is gone: everything anew.
  virtual void replace_device() = 0;
};

// Throw where this machine, or this build, does not have what it takes.
std::unique_ptr<Presenter> make_webgpu_presenter(GLFWwindow*,
                                                 const tessera::ContextOptions&);  // on a device of tessera's
// In a context of the window's that tessera adopts.
std::unique_ptr<Presenter> make_gles_presenter(GLFWwindow*, const tessera::ContextOptions&);

}  // namespace video
