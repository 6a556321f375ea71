#include "backend_gles/export_pass.h"

#include <vector>

#include "backend_gles/egl.h"
#include "backend_gles/storage.h"
#include "core/embedded_shader.h"
#include "core/shader_text.h"

namespace tessera::gles {

// The target as the framebuffer that is drawn to, with color attachment 0, or the window's back buffer, as the one draw
// buffer. What belongs to the host's framebuffer is put back, with or without AdoptOptions::restore_state.
class ExportPass::Bound {
 public:
  Bound(const PassTools& tools, const ExportPass& pass) : gl_(tools.device.gl()), pass_(pass) {
    if (pass.texture_) {
      gl_.BindFramebuffer(GL_DRAW_FRAMEBUFFER, tools.scratch_framebuffer);
      attach(pass.texture_->texture);
      return;
    }
    gl_.BindFramebuffer(GL_DRAW_FRAMEBUFFER, pass.framebuffer_.framebuffer);
    GLint count = 1;
    if (!is_window()) gl_.GetIntegerv(GL_MAX_DRAW_BUFFERS, &count);
    for (GLint i = 0; i < count; ++i) {
      GLint buffer = GL_NONE;
      gl_.GetIntegerv(GL_DRAW_BUFFER0 + static_cast<GLenum>(i), &buffer);
      draw_buffers_.push_back(static_cast<GLenum>(buffer));
    }
    const GLenum wanted = is_window() ? GL_BACK : GL_COLOR_ATTACHMENT0;
    gl_.DrawBuffers(1, &wanted);
  }
  ~Bound() {
    if (pass_.texture_) attach(0);
    else gl_.DrawBuffers(static_cast<GLsizei>(draw_buffers_.size()), draw_buffers_.data());
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  GLenum attachment() const { return is_window() ? GL_BACK : GL_COLOR_ATTACHMENT0; }

 private:
  bool is_window() const { return !pass_.texture_ && pass_.framebuffer_.framebuffer == 0; }
  void attach(GLuint texture) const {
    gl_.FramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  }

  const GladGLES2Context& gl_;
  const ExportPass& pass_;
  std::vector<GLenum> draw_buffers_;
};

GLuint ExportPass::program(const PassTools& tools, PixelKind kind) const {
  const bool is_u8 = image_.dtype == DType::u8, is_real = kind == PixelKind::real;
  const std::string pixel = is_real ? "vec4" : kind == PixelKind::signed_integer ? "ivec4" : "uvec4";
  const std::string sampler = is_u8 ? "usampler2D" : "sampler2D", channels = std::to_string(image_.channels);
  return tools.programs.get("export " + sampler + " " + channels + " " + pixel, [&] {
    return fill_template(
        embedded_shader("export.glsl"),
        {{"declarations", "uniform highp " + sampler + " image;\nlayout(location = 0) out highp " + pixel +
                              " result;\nconst int channels = " + channels +
                              ";\nconst float scale = " + (is_u8 && is_real ? "1.0 / 255.0" : "1.0") + ";\n"},
         {"result", is_real ? "  result = value;\n" : "  result = " + pixel + "(round(value));\n"}});
  });
}

void ExportPass::prepare(const PassTools& tools, const Dispatch& dispatch) const {
  const GladGLES2Context& gl = tools.device.gl();
  if (texture_) require_writable_texture(tools.device, texture_->texture);
  else require_framebuffer(tools.device, framebuffer_.framebuffer);
  if (const Storage* input = dispatch.inputs[0].storage;
      texture_ && input && static_cast<const TextureStorage&>(*input).texture() == texture_->texture)
    throw Error(ErrorCode::invalid_argument, "to_texture: texture " + std::to_string(texture_->texture) +
                                                 " is where the tensor is read from; it cannot be its own target.");
  const Bound bound(tools, *this);
  if (const GLenum status = gl.CheckFramebufferStatus(GL_DRAW_FRAMEBUFFER); status != GL_FRAMEBUFFER_COMPLETE) {
    tools.device.take_error();  // the reason is the status
    throw Error(ErrorCode::invalid_argument,
                "to_texture: " + tools.device.info().name + " cannot draw to " +
                    (texture_ ? "texture " + std::to_string(texture_->texture)
                              : "framebuffer " + std::to_string(framebuffer_.framebuffer)) +
                    ", framebuffer status " + hex(static_cast<int>(status)) + ".");
  }
  program(tools, kind_of_attachment(tools.device, bound.attachment()));
}

void ExportPass::run(const PassTools& tools, const Dispatch& dispatch) const {
  const GladGLES2Context& gl = tools.device.gl();
  const Bound bound(tools, *this);
  gl.Viewport(framebuffer_.x, framebuffer_.y, image_.width, image_.height);
  const GLuint used = program(tools, kind_of_attachment(tools.device, bound.attachment()));
  gl.UseProgram(used);
  gl.Uniform2i(gl.GetUniformLocation(used, "size"), image_.width, image_.height);
  gl.Uniform2i(gl.GetUniformLocation(used, "corner"), framebuffer_.x, framebuffer_.y);
  gl.Uniform1i(gl.GetUniformLocation(used, "first"), static_cast<GLint>(image_.first));
  gl.Uniform1i(gl.GetUniformLocation(used, "flip_y"), image_.flip_y);
  tools.bind_texture(GL_TEXTURE_2D, static_cast<const TextureStorage&>(*dispatch.inputs[0].storage).texture());
  tools.draw_triangle();
}

}  // namespace tessera::gles
