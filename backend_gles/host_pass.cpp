#include "backend_gles/host_pass.h"

#include <algorithm>

#include "backend_gles/texture_format.h"

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

GLuint CopyTextures::get(GLuint unit, GLenum internal_format, GLsizei width, GLsizei height) {
  const GladGLES2Context& gl = device_->gl();
  gl.ActiveTexture(GL_TEXTURE0 + unit);
  Copy& copy = copies_[unit];
  const bool has_format = copy.texture && copy.internal_format == internal_format;
  if (!has_format || copy.width < width || copy.height < height) {
    if (has_format) {
      width = std::max(width, copy.width);
      height = std::max(height, copy.height);
    }
    copy = {make_texture(device_), internal_format, width, height};
    gl.BindTexture(GL_TEXTURE_2D, copy.texture.get());
    if (gl.TexStorage2D) {
      gl.TexStorage2D(GL_TEXTURE_2D, 1, internal_format, width, height);
    } else {  // OpenGL before 4.2
      const TextureFormat format = pixels_for(internal_format);
      gl.TexImage2D(GL_TEXTURE_2D, 0, static_cast<GLint>(internal_format), width, height, 0, format.format, format.type,
                    nullptr);
    }
  }
  gl.BindTexture(GL_TEXTURE_2D, copy.texture.get());
  return copy.texture.get();
}

void PassTools::bind_texture(GLenum target, GLuint texture, GLuint unit, Reading reading) const {
  const GladGLES2Context& gl = device.gl();
  gl.ActiveTexture(GL_TEXTURE0 + unit);
  gl.BindTexture(target, texture);
  gl.BindSampler(unit, samplers[static_cast<std::size_t>(reading)]);
}

}  // namespace tessera::gles
