#include "backend_gles/host_pass.h"

namespace tessera::gles {

GLuint PassPrograms::get(const std::string& key, const std::string& name,
                         const std::function<std::string()>& fragment_text, KernelUses* uses) {
  return CompiledCache::get(key, uses, [&] { return compile(name, fragment_text()); }).get();
}

Compiled<Program> PassPrograms::compile(const std::string& name, const std::string& fragment_text) const {
  Linking linking(device_, fragment_text, name);
  auto [program, is_from_cache] = linking.finish();
  linking.compilation().succeeded([&] { return name; }, linking.fragment_text(), is_from_cache);
  device_->label(GL_PROGRAM_KHR, program.get(), name);
  return {std::move(program), linking.fragment_text().size(), is_from_cache};
}

void PassTools::bind_texture(GLenum target, GLuint texture, GLuint unit) const {
  const GladGLES2Context& gl = device.gl();
  gl.ActiveTexture(GL_TEXTURE0 + unit);
  gl.BindTexture(target, texture);
  gl.BindSampler(unit, nearest_sampler);
}

}  // namespace tessera::gles
