#include "backend_gles/host_pass.h"

namespace tessera::gles {

GLuint PassPrograms::get(const std::string& key, const std::function<std::string()>& fragment_text) {
  auto found = programs_.find(key);
  if (found == programs_.end()) {
    const Compilation compilation(device_->messages());
    const std::string text = fragment_text();
    found = programs_.emplace(key, link_program(device_, text, "pass " + key)).first;
    compilation.succeeded([&] { return "pass " + key; }, text);
    device_->label(GL_PROGRAM_KHR, found->second.get(), key);
  }
  return found->second.get();
}

void PassTools::bind_texture(GLenum target, GLuint texture) const {
  const GladGLES2Context& gl = device.gl();
  gl.ActiveTexture(GL_TEXTURE0);
  gl.BindTexture(target, texture);
  gl.BindSampler(0, nearest_sampler);
}

}  // namespace tessera::gles
