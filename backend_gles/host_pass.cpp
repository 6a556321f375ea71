#include "backend_gles/host_pass.h"

namespace tessera::gles {

GLuint PassPrograms::get(const std::string& key, const std::string& name,
                         const std::function<std::string()>& fragment_text, KernelUses* uses) {
  return CompiledCache::get(key, uses, [&] { return compile(name, fragment_text()); }).get();
}

Compiled<Program> PassPrograms::compile(const std::string& name, const std::string& fragment_text) const {
  const Compilation compilation(device_->messages());
  Program program = link_program(device_, fragment_text, name);
  compilation.succeeded([&] { return name; }, fragment_text);
  device_->label(GL_PROGRAM_KHR, program.get(), name);
  return {std::move(program), fragment_text.size()};
}

void PassTools::bind_texture(GLenum target, GLuint texture, GLuint unit) const {
  const GladGLES2Context& gl = device.gl();
  gl.ActiveTexture(GL_TEXTURE0 + unit);
  gl.BindTexture(target, texture);
  gl.BindSampler(unit, nearest_sampler);
}

}  // namespace tessera::gles
