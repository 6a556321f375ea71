// Writes an image into a texture or a framebuffer of the host's.
#pragma once
#include <optional>

#include "backend_gles/host_pass.h"
#include "backend_gles/host_texture.h"

namespace tessera::gles {

struct ExportedImage {
  DType dtype;
  int width, height, channels;
  std::int64_t first;  // element of its storage
  bool flip_y;
};

class ExportPass final : public GlesPass {
 public:
  ExportPass(const ExportedImage& image, HostTexture target) : image_(image), texture_(std::move(target)) {}
  ExportPass(const ExportedImage& image, const HostFramebuffer& target) : image_(image), framebuffer_(target) {}

  void prepare(const PassTools&, const Dispatch&) const override;
  void run(const PassTools&, const Dispatch&) const override;

 private:
  class Bound;
  GLuint program(const PassTools&, PixelKind) const;

  ExportedImage image_;
  std::optional<HostTexture> texture_;  // one of them
  HostFramebuffer framebuffer_{};
};

}  // namespace tessera::gles
