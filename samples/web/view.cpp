#include "view.h"

#include <algorithm>
#include <memory>

#include <tessera/gles.h>
#include <tessera/webgpu.h>

using tessera::BackendKind;
using tessera::Tensor;

namespace {

int number_of(const void* handle) { return static_cast<int>(reinterpret_cast<std::intptr_t>(handle)); }
WGPUTexture texture_numbered(unsigned name) { return reinterpret_cast<WGPUTexture>(static_cast<std::uintptr_t>(name)); }

// The middle of a picture, as large as fits, in the shape of what is shown.
tessera::TexturePart middle_of(video::Size picture, video::Size shape) {
  const auto scaled = [](int a, int b, int c) { return static_cast<int>(std::int64_t{a} * b / c); };
  tessera::TexturePart part;
  part.width = std::clamp(scaled(picture.height, shape.width, shape.height), 1, picture.width);
  part.height = std::clamp(scaled(picture.width, shape.height, shape.width), 1, picture.height);
  part.x = (picture.width - part.width) / 2;
  part.y = (picture.height - part.height) / 2;
  return part;
}

video::FramePtr scene_frame(int number, video::Size size) {
  auto frame = std::make_shared<video::Frame>();
  frame->number = number;
  frame->size = size;
  return frame;
}

}  // namespace

void View::use(BackendKind backend) {
  if (gpu_.backend() != backend) gpu_.switch_backend(backend);
}

int View::handle() const {
  return gpu_.backend() == BackendKind::gles ? number_of(tessera::gles::host_context(gpu_).context)
                                             : number_of(tessera::webgpu::host_device(gpu_).device);
}

video::Size View::set(video::Size source, const std::vector<std::string>& filters) {
  pipeline_.emplace(gpu_, source, filters);
  source_ = source;
  const int times = video::enlarges(filters);
  return shown_ = {source.width * times, source.height * times};
}

Tensor View::image_of(const PageTexture& source) {
  const tessera::TexturePart part = middle_of(source.size, source_);
  const Tensor image =
      gpu_.backend() == BackendKind::gles
          ? tessera::gles::from_texture(gpu_, {.texture = source.name,
                                               .width = source.size.width,
                                               .height = source.size.height,
                                               .channels = "RGB",
                                               .internal_format = 0x8058,  // GL_RGBA8
                                               .part = part})
          : tessera::webgpu::from_texture(gpu_, texture_numbered(source.name), {.channels = "RGB", .part = part});
  if (video::Size{part.width, part.height} == source_) return image;
  return resize_bilinear(image, source_.height, source_.width);
}

void View::draw(int number, const PageTexture& source, unsigned target) {
  const video::Filtered filtered =
      source.name ? (*pipeline_)(image_of(source), number) : (*pipeline_)(scene_frame(number, source_));
  if (gpu_.backend() == BackendKind::gles)
    tessera::gles::to_texture(filtered.image,
                              tessera::gles::HostFramebuffer{.width = shown_.width, .height = shown_.height},
                              {.flip_y = true, .also_compute = filtered.kept});
  else tessera::webgpu::to_texture(filtered.image, texture_numbered(target), {.also_compute = filtered.kept});
}
