#include "backend_gles/import_pass.h"

#include "backend_gles/storage.h"
#include "core/embedded_shader.h"
#include "core/shader_text.h"

namespace tessera::gles {

GLuint ImportPass::program(const PassTools& tools) const {
  const std::string sampler = host_.is_external                      ? "samplerExternalOES"
                              : kind_ == PixelKind::signed_integer   ? "isampler2D"
                              : kind_ == PixelKind::unsigned_integer ? "usampler2D"
                                                                     : "sampler2D";
  const std::string channels = std::to_string(host_.channels.size());
  return tools.programs.get("import " + sampler + " " + channels, [&] {
    return fill_template(
        embedded_shader("import.glsl"),
        {{"extensions", host_.is_external ? "#extension GL_OES_EGL_image_external_essl3 : require\n" : ""},
         {"declarations", "uniform highp " + sampler + " host;\nconst int channels = " + channels + ";\n"}});
  });
}

void ImportPass::prepare(const PassTools& tools, const Dispatch&) const {
  require_texture(tools.device, host_.texture, "from_texture", age_);
  program(tools);
}

void ImportPass::run(const PassTools& tools, const Dispatch& dispatch) const {
  const GladGLES2Context& gl = tools.device.gl();
  const auto& output = static_cast<const TextureStorage&>(*dispatch.output);
  output.bind_framebuffer(GL_DRAW_FRAMEBUFFER);
  gl.Viewport(0, 0, output.width(), output.height());
  const GLuint used = program(tools);
  gl.UseProgram(used);
  GLint order[4] = {};
  for (std::size_t i = 0; i < host_.channels.size(); ++i)
    order[i] = static_cast<GLint>(std::string_view("RGBA").find(host_.channels[i]));
  gl.Uniform4iv(gl.GetUniformLocation(used, "order"), 1, order);
  gl.Uniform2i(gl.GetUniformLocation(used, "size"), host_.width, host_.height);
  gl.Uniform1i(gl.GetUniformLocation(used, "output_width"), output.width());
  tools.bind_texture(host_.is_external ? texture_external : GL_TEXTURE_2D, host_.texture);
  tools.draw_triangle();
}

}  // namespace tessera::gles
