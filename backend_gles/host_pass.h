// The means by which passes run.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "backend_gles/handle.h"
#include "backend_gles/program.h"
#include "core/kernel/compiled_cache.h"

namespace tessera::gles {

// The programs of custom kernels.
class PassPrograms : public CompiledCache<Program> {
 public:
  explicit PassPrograms(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  // `name` is for people. The context is current.
  GLuint get(const std::string& key, const std::string& name, const std::function<std::string()>& fragment_text,
             KernelUses* = nullptr);

 private:
  Compiled<Program> compile(const std::string& name, const std::string& fragment_text) const;

  std::shared_ptr<const Device> device_;
};

// Textures that kernels sample instead of a host's framebuffers: one for each texture unit, as large as was needed.
class CopyTextures {
 public:
  explicit CopyTextures(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  // Of this size at least. The texture is bound to GL_TEXTURE_2D of the unit, which is active.
  GLuint get(GLuint unit, GLenum internal_format, GLsizei width, GLsizei height);
  void clear() { copies_.clear(); }

 private:
  struct Copy {
    Texture texture;
    GLenum internal_format;
    GLsizei width, height;
  };
  std::shared_ptr<const Device> device_;
  std::map<GLuint, Copy> copies_;
};

struct PassTools {
  const Device& device;
  PassPrograms& programs;
  CopyTextures& copies;
  std::array<GLuint, 3> samplers;  // by Reading, whatever filters the texture has
  GLuint scratch_framebuffer;      // has no attachments between passes

  enum class Reading {
    base_level,  // its texels
    level,       // texels of a level after the base level
    filtered,    // the base level, by the linear filter
  };
  void bind_texture(GLenum target, GLuint texture, GLuint unit = 0, Reading = Reading::base_level) const;
  void draw_triangle() const { device.gl().DrawArrays(GL_TRIANGLES, 0, 3); }
};

}  // namespace tessera::gles
