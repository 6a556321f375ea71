// Textures and framebuffers of the host's, as kernels sample them.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "backend_gles/host_objects.h"
#include "backend_gles/host_pass.h"

namespace tessera::gles {

inline constexpr std::string_view from_texture_op = "gles::from_texture";

// The names of OpenGL ES 3.1, which glad does not have here.
inline constexpr GLenum depth_stencil_texture_mode = 0x90EA, stencil_index = 0x1901;
bool has_stencil_textures(const Device&);      // whether shaders can sample stencil
void require_stencil_textures(const Device&);  // throws unsupported where they cannot

class HostImport : public HostSource {
 public:
  // All that a kernel's text depends on.
  struct Type {
    Texels texels;
    GLenum target;
    std::uint32_t components;  // see components_number()
    HostValue value;
    bool is_alone = false, is_from_corner = false;  // see SourceType
  };
  virtual Type parts_of_type() const = 0;
  std::string type() const final;
  std::uint64_t type_number() const final;

  using Part = std::array<GLint, 4>;            // see part_name()
  virtual void check(const Device&) const = 0;  // throws invalid_argument where the host's object is gone
  virtual bool is_among(const std::vector<GLuint>& textures) const = 0;  // whether one of them is read
  virtual std::uint32_t touches() const = 0;                             // states beyond touch::drawing
  virtual Part part() const = 0;
  // Gives the unit a texture for as long as a kernel runs.
  virtual void bind(const PassTools&, GLuint unit, bool is_filtered) const = 0;
  virtual void release(const PassTools&, GLuint /*unit*/) const {}
};

class TextureImport final : public HostImport {
 public:
  TextureImport(HostTexture texture, const TextureTraits& traits, HostValue value)
      : host_(std::move(texture)), traits_(traits), value_(value) {}

  Type parts_of_type() const override;
  bool is_filterable() const override;
  bool is_sampled_alone() const override { return is_stencil(host_.channels); }
  void check(const Device& device) const override {
    require_texture(device, host_.texture, from_texture_op, traits_.age);
  }
  bool is_among(const std::vector<GLuint>& textures) const override;
  std::uint32_t touches() const override;
  Part part() const override;
  void bind(const PassTools&, GLuint unit, bool is_filtered) const override;
  void release(const PassTools&, GLuint unit) const override;

 private:
  HostTexture host_;
  TextureTraits traits_;
  HostValue value_;
  mutable GLint mode_before_ = 0;  // GL_DEPTH_STENCIL_TEXTURE_MODE of the texture, while its stencil is read
};

// A framebuffer is copied into a texture, which resolves its samples.
class FramebufferImport final : public HostImport {
 public:
  // Enters the device. Throws where the host has no such framebuffer, or its format cannot be copied.
  FramebufferImport(const Device&, const HostFramebuffer&, const FromFramebuffer&);

  Type parts_of_type() const override;
  void check(const Device& device) const override;
  bool is_among(const std::vector<GLuint>& textures) const override;
  std::uint32_t touches() const override { return touches_; }
  Part part() const override { return {host_.x, host_.y, 0, 0}; }
  void bind(const PassTools&, GLuint unit, bool is_filtered) const override;

 private:
  GLenum attachment() const;
  bool copies_colours() const { return !is_depth(channels_) && !is_stencil(channels_); }

  HostFramebuffer host_;
  std::string channels_;
  GLenum format_ = 0;
  HostValue value_ = HostValue::floats;
  std::uint32_t touches_ = state::read_framebuffer;
  std::vector<GLuint> attached_;  // textures
};

inline const HostImport& import_of(const HostSource& source) { return static_cast<const HostImport&>(source); }

}  // namespace tessera::gles
