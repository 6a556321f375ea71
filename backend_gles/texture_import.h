// Reads a texture of the host's.
#pragma once
#include <string_view>

#include "backend_gles/host_objects.h"
#include "backend_gles/host_pass.h"

namespace tessera::gles {

inline constexpr std::string_view from_texture_op = "gles::from_texture";

// A pass copies the texture into a tensor; pixel kernels sample the texture itself.
class TextureImport final : public HostSource, public GlesPass {
 public:
  TextureImport(const Device& device, HostTexture texture, Texels texels, bool is_filterable)
      : host_(std::move(texture)),
        texels_(texels),
        is_filterable_(is_filterable),
        age_(device.own_textures().age_of(host_.texture)) {}

  GLuint texture() const { return host_.texture; }
  void check(const Device&) const;  // throws invalid_argument where the texture is gone; the context is current
  void bind(const PassTools&, GLuint unit, bool is_filtered = false) const;

  std::string type() const override;
  bool is_filterable() const override { return is_filterable_; }
  std::uint32_t touches() const override;
  void prepare(const PassTools&, const Dispatch&) const override;
  void run(const PassTools&, const Dispatch&) const override;

 private:
  std::string sampler() const;
  GLuint program(const PassTools&) const;

  HostTexture host_;
  Texels texels_;
  bool is_filterable_;
  std::uint64_t age_;  // see OwnNames
};

inline const TextureImport& import_of(const HostSource& source) { return static_cast<const TextureImport&>(source); }

}  // namespace tessera::gles
