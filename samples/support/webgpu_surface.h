// A window's surface for WebGPU.
#pragma once
#include "support/webgpu_handles.h"
#include "support/window.h"

namespace sample {

// Has to go before the device that draws into it.
class Surface {
 public:
  Surface(WGPUInstance, GLFWwindow*);

  // One without sRGB encoding: what is written is what a screen shows. Throws std::runtime_error where there is none.
  WGPUTextureFormat format_on(WGPUAdapter) const;
  void configure(WGPUDevice, WGPUTextureFormat, Size);
  Owned<WGPUTexture> next();  // to draw into; null where the window has changed under it: configure it again
  void present();
  // Where its device was lost: Dawn crashes when such a surface is released, so that it is left where it is.
  void abandon() { (void)surface_.release(); }
  WGPUSurface get() const { return surface_.get(); }

 private:
  Owned<WGPUSurface> surface_;
};

}  // namespace sample
