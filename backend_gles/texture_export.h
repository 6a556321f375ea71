// Writes into textures and framebuffers of the host's.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "backend_gles/host_objects.h"
#include "backend_gles/host_pass.h"

namespace tessera::gles {

inline constexpr std::string_view to_texture_op = "gles::to_texture";

// The constructors enter the device, and throw invalid_argument where the host has no such texture or framebuffer.
struct Target {
  Target(const Device&, const HostTexture&);
  Target(const Device&, const HostFramebuffer&);

  bool is_window() const { return !texture && framebuffer == 0; }
  GLenum attachment() const { return is_window() ? GL_BACK : GL_COLOR_ATTACHMENT0; }
  std::string name() const;

  std::optional<AttachedTexture> texture;  // else a framebuffer
  GLuint framebuffer = 0;
  int width, height, x = 0, y = 0;
  bool is_whole = false;  // all of a level
  Texels texels = Texels::floats;
  std::vector<GLuint> attached;  // the texture, or those of the framebuffer
};

// While it lives, these textures are the color attachments that are drawn to, in their order.
class BoundTextures {
 public:
  BoundTextures(const PassTools&, std::span<const AttachedTexture>);
  ~BoundTextures();
  BoundTextures(const BoundTextures&) = delete;
  BoundTextures& operator=(const BoundTextures&) = delete;

 private:
  void draw_to_first(std::size_t count) const;

  const GladGLES2Context& gl_;
  std::size_t count_;
  bool encodes_srgb_;  // while this lives, and not before
};

// While it lives, a framebuffer of the host's is drawn to, with color attachment 0, or the window's back buffer, as the
// one draw buffer. All that belongs to the framebuffer is put back, with or without AdoptOptions::restore_state.
class BoundFramebuffer {
 public:
  BoundFramebuffer(const PassTools&, const Target&);
  ~BoundFramebuffer();
  BoundFramebuffer(const BoundFramebuffer&) = delete;
  BoundFramebuffer& operator=(const BoundFramebuffer&) = delete;

 private:
  const Device& device_;
  std::vector<GLenum> draw_buffers_;
};

// The target, as pixel kernels draw into it.
class TextureExport final : public HostTarget {
 public:
  TextureExport(Target target, bool flip_y) : target_(std::move(target)), flip_y_(flip_y) {}

  const Target& target() const { return target_; }
  // Throws invalid_argument where the framebuffer is gone, or the target is one of the inputs. The context is entered
  // for drawing.
  void check(const PassTools&, const Dispatch&) const;
  // Throws invalid_argument where the driver cannot draw to the target, which is bound, or the texture is gone.
  void require_complete(const Device&) const;

  std::string type() const override;
  bool reads(const HostSource&) const override;
  bool reads(const Storage&) const override;
  std::uint64_t type_number() const override;
  // The other outputs begin at the first texel.
  bool takes_more_outputs() const override { return target_.texture && target_.is_whole && !flip_y_; }

 private:
  bool is_from_corner() const { return target_.x == 0 && target_.y == 0; }

  Target target_;
  bool flip_y_;
};

inline const TextureExport& export_of(const HostTarget& target) { return static_cast<const TextureExport&>(target); }

}  // namespace tessera::gles
