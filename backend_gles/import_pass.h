// Reads a texture of the host's into a tensor.
#pragma once
#include "backend_gles/host_pass.h"
#include "backend_gles/host_texture.h"

namespace tessera::gles {

class ImportPass final : public GlesPass {
 public:
  ImportPass(const Device& device, HostTexture texture, PixelKind kind)
      : host_(std::move(texture)), kind_(kind), age_(device.own_textures().age_of(host_.texture)) {}

  std::uint32_t touches() const override { return host_.is_external ? state::external_textures : 0; }
  void prepare(const PassTools&, const Dispatch&) const override;
  void run(const PassTools&, const Dispatch&) const override;

 private:
  GLuint program(const PassTools&) const;

  HostTexture host_;
  PixelKind kind_;
  std::uint64_t age_;  // see OwnNames
};

}  // namespace tessera::gles
