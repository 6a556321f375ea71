// Passes over a host's objects: they read a texture into a tensor, or write a tensor into a texture or framebuffer.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backend_gles/program.h"
#include "core/kernel/compiled_cache.h"

namespace tessera::gles {

// The programs of passes and of custom kernels.
class PassPrograms : public CompiledCache<Program> {
 public:
  explicit PassPrograms(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  // `name` is for people. The context is current.
  GLuint get(const std::string& key, const std::string& name, const std::function<std::string()>& fragment_text,
             KernelUses* = nullptr);
  GLuint get(const std::string& key, const std::function<std::string()>& fragment_text) {
    return get(key, "pass " + key, fragment_text);
  }

 private:
  Compiled<Program> compile(const std::string& name, const std::string& fragment_text) const;

  std::shared_ptr<const Device> device_;
};

struct PassTools {
  const Device& device;
  PassPrograms& programs;
  GLuint nearest_sampler;  // reads texels unfiltered, whatever the texture says
  GLuint linear_sampler;
  GLuint scratch_framebuffer;  // has no attachments between passes

  void bind_texture(GLenum target, GLuint texture, GLuint unit = 0, bool is_filtered = false) const;
  void draw_triangle() const { device.gl().DrawArrays(GL_TRIANGLES, 0, 3); }
};

// A part of each HostPass of this backend.
class GlesPass {
 public:
  virtual ~GlesPass() = default;
  virtual std::uint32_t touches() const { return 0; }  // states beyond touch::drawing
  // Checks the host's object and compiles, before anything of the submission has run.
  virtual void prepare(const PassTools&, const Dispatch&) const = 0;
  virtual void run(const PassTools&, const Dispatch&) const = 0;
};

}  // namespace tessera::gles
