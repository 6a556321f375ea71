// tessera opens the device, and survives its loss by itself; the surface is made on whichever device it has.
#include <optional>

#include "presenter.h"
#include "support/webgpu_surface.h"
#include <tessera/webgpu.h>

namespace video {
namespace {

using sample::Owned;

class WebGpuPresenter : public Presenter {
 public:
  WebGpuPresenter(GLFWwindow* window, const tessera::ContextOptions& options)
      : window_(window), gpu_(tessera::Context::create(options)) {}
  ~WebGpuPresenter() override { hide(); }

  tessera::Context& context() override { return gpu_; }

  void show(Size size) override {
    hide();
    const tessera::webgpu::HostDevice host = tessera::webgpu::host_device(gpu_);
    wgpuDeviceAddRef(host.device);
    device_.reset(host.device);
    surface_.emplace(host.instance, window_);
    const Owned<WGPUAdapter> adapter(wgpuDeviceGetAdapter(host.device));
    surface_->configure(host.device, surface_->format_on(adapter.get()), size);
    size_ = size;
  }

  void hide() override {
    if (surface_ && has_new_device()) {
      surface_->abandon();
      (void)device_.release();
    }
    surface_.reset();  // before the device that draws into it
    device_.reset();
  }

  Presented present(const Filtered& filtered) override {
    const Owned<WGPUTexture> target = surface_->next();
    const auto begin = std::chrono::steady_clock::now();
    if (!target) {
      gpu_.compute(filtered.all());  // which finds out whether the device is lost, and replaces it
      show(size_);
      return {false, {}};
    }
    try {
      tessera::webgpu::to_texture(filtered.image, target.get(), {.also_compute = filtered.kept});
    } catch (const tessera::Error& error) {
      if (!has_new_device()) throw;
      throw tessera::Error(tessera::ErrorCode::device_lost, error.what());  // the target was the old device's
    }
    const auto work = std::chrono::steady_clock::now() - begin;
    surface_->present();
    return {true, work};
  }

  void replace_device() override {
    gpu_.wait();  // which finds out about the loss, if nothing else did
    show(size_);
  }

 private:
  bool has_new_device() const { return tessera::webgpu::host_device(gpu_).device != device_.get(); }

  GLFWwindow* window_;
  tessera::Context gpu_;
  Owned<WGPUDevice> device_;  // the one of the surface
  std::optional<sample::Surface> surface_;
  Size size_{};
};

}  // namespace

std::unique_ptr<Presenter> make_webgpu_presenter(GLFWwindow* window, const tessera::ContextOptions& options) {
  return std::make_unique<WebGpuPresenter>(window, options);
}

}  // namespace video
