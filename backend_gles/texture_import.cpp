#include "backend_gles/texture_import.h"

#include "backend_gles/pixel_shader.h"
#include "backend_gles/storage.h"
#include "core/kernel/embedded_shader.h"
#include "core/kernel/shader_text.h"

namespace tessera::gles {

void TextureImport::check(const Device& device) const { require_texture(device, host_.texture, from_texture_op, age_); }

void TextureImport::bind(const PassTools& tools, GLuint unit) const {
  tools.bind_texture(host_.is_external ? texture_external : GL_TEXTURE_2D, host_.texture, unit);
}

std::string TextureImport::sampler() const {
  if (host_.is_external) return std::string(external_sampler);
  return texels_ == Texels::signed_integers     ? "isampler2D"
         : texels_ == Texels::unsigned_integers ? "usampler2D"
                                                : "sampler2D";
}

std::string TextureImport::type() const {
  std::string swizzle;
  for (const int component : components_of(host_.channels)) swizzle += "rgba"[component];
  return SourceType{sampler(), swizzle}.text();
}

std::uint32_t TextureImport::touches() const { return host_.is_external ? state::external_textures : 0; }

void TextureImport::prepare(const PassTools& tools, const Dispatch&) const {
  check(tools.device);
  program(tools);
}

void TextureImport::run(const PassTools& tools, const Dispatch& dispatch) const {
  const GladGLES2Context& gl = tools.device.gl();
  const TextureStorage& output = texture_of(*dispatch.output);
  output.bind_framebuffer(GL_DRAW_FRAMEBUFFER);
  tools.device.set_viewport(0, 0, output.width(), output.height());
  const GLuint used = program(tools);
  gl.UseProgram(used);
  gl.Uniform4iv(gl.GetUniformLocation(used, "order"), 1, components_of(host_.channels).data());
  gl.Uniform2i(gl.GetUniformLocation(used, "size"), host_.width, host_.height);
  gl.Uniform1i(gl.GetUniformLocation(used, "output_width"), output.width());
  bind(tools, 0);
  tools.draw_triangle();
}

GLuint TextureImport::program(const PassTools& tools) const {
  const std::string channels = std::to_string(host_.channels.size());
  return tools.programs.get("import " + sampler() + " " + channels, [&] {
    return fill_template(
        embedded_shader("from_texture.glsl"),
        {{"declarations", "uniform " + sampler() + " host;\nconst int channels = " + channels + ";\n"}});
  });
}

}  // namespace tessera::gles
