#include "backend_gles/texture_export.h"

#include <algorithm>

#include "backend_gles/desktop_state.h"
#include "backend_gles/egl.h"
#include "backend_gles/pixel_shader.h"
#include "backend_gles/storage.h"
#include "backend_gles/texture_import.h"
#include "core/base/fail.h"
#include "core/kernel/embedded_shader.h"
#include "core/kernel/shader_text.h"

namespace tessera::gles {
namespace {

GLenum color_attachment(std::size_t index) { return GL_COLOR_ATTACHMENT0 + static_cast<GLenum>(index); }

// A window of desktop OpenGL may have a front buffer only.
GLenum window_buffer(const GladGLES2Context& gl) {
  constexpr GLenum double_buffer = 0x0C32;
  return integer(gl, double_buffer) ? GL_BACK : GL_FRONT;
}

std::string vector_of(Texels texels) {
  return texels == Texels::signed_integers ? "ivec4" : texels == Texels::unsigned_integers ? "uvec4" : "vec4";
}

}  // namespace

Target::Target(const Device& device, const HostTexture& host)
    : texture(host.texture), width(host.width), height(host.height) {
  const Entered entered(device, touch::texture | state::draw_framebuffer);
  require_writable_texture(device, host.texture, to_texture_op);
  texels = traits_of(device, host, to_texture_op).texels;
}

Target::Target(const Device& device, const HostFramebuffer& host)
    : framebuffer(host.framebuffer), width(host.width), height(host.height), x(host.x), y(host.y) {
  const Entered entered(device, state::draw_framebuffer);
  require_framebuffer(device, framebuffer, to_texture_op);
  device.gl().BindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
  if (is_window()) return;  // it has colors, and no textures
  texels = texels_of_attachment(device, attachment());
  attached = textures_of_framebuffer(device);
  device.take_error();  // TextureExport::check() tells what is wrong
}

bool Target::has(GLuint other_texture) const {
  return texture ? *texture == other_texture : std::ranges::find(attached, other_texture) != attached.end();
}

std::string Target::name() const {
  return texture ? "texture " + std::to_string(*texture) : "framebuffer " + std::to_string(framebuffer);
}

BoundTextures::BoundTextures(const PassTools& tools, std::span<const GLuint> textures)
    : gl_(tools.device.gl()),
      count_(textures.size()),
      encodes_srgb_(tools.device.is_desktop() && !gl_.IsEnabled(framebuffer_srgb)) {
  if (encodes_srgb_) gl_.Enable(framebuffer_srgb);  // as OpenGL ES always does
  gl_.BindFramebuffer(GL_DRAW_FRAMEBUFFER, tools.scratch_framebuffer);
  std::vector<GLenum> drawn;
  for (std::size_t i = 0; i < count_; ++i) {
    gl_.FramebufferTexture2D(GL_DRAW_FRAMEBUFFER, color_attachment(i), GL_TEXTURE_2D, textures[i], 0);
    drawn.push_back(color_attachment(i));
  }
  gl_.DrawBuffers(narrow<GLsizei>(count_), drawn.data());
}

BoundTextures::~BoundTextures() {
  if (encodes_srgb_) gl_.Disable(framebuffer_srgb);
  for (std::size_t i = 0; i < count_; ++i)
    gl_.FramebufferTexture2D(GL_DRAW_FRAMEBUFFER, color_attachment(i), GL_TEXTURE_2D, 0, 0);
}

BoundFramebuffer::BoundFramebuffer(const PassTools& tools, const Target& target) : device_(tools.device) {
  const GladGLES2Context& gl = device_.gl();
  gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, target.framebuffer);
  const GLint buffers = target.is_window() && !device_.is_desktop() ? 1 : integer(gl, GL_MAX_DRAW_BUFFERS);
  for (GLint i = 0; i < buffers; ++i)
    draw_buffers_.push_back(static_cast<GLenum>(integer(gl, GL_DRAW_BUFFER0 + static_cast<GLenum>(i))));
  const GLenum drawn = target.attachment();
  if (target.is_window() && device_.is_desktop()) device_.functions().DrawBuffer(window_buffer(gl));
  else gl.DrawBuffers(1, &drawn);
}

BoundFramebuffer::~BoundFramebuffer() {
  // Desktop OpenGL has names for several buffers of a window at once, which stand alone.
  const auto others = std::span(draw_buffers_).subspan(1);
  if (device_.is_desktop() && std::ranges::count(others, GLenum{GL_NONE}) == std::ssize(others))
    device_.functions().DrawBuffer(draw_buffers_[0]);
  else device_.gl().DrawBuffers(narrow<GLsizei>(draw_buffers_.size()), draw_buffers_.data());
}

BoundTarget::BoundTarget(const PassTools& tools, const Target& target) {
  if (target.texture) texture_.emplace(tools, std::span(&*target.texture, 1));
  else framebuffer_.emplace(tools, target);
}

void TextureExport::check(const PassTools& tools, const Dispatch& dispatch) const {
  const Device& device = tools.device;
  if (target_.texture) require_writable_texture(device, *target_.texture, to_texture_op);
  else require_framebuffer(device, target_.framebuffer, to_texture_op);
  for (const BoundInput& input : dispatch.inputs)
    if (input.storage ? reads(*input.storage) : input.source && reads(*input.source))
      fail(ErrorCode::invalid_argument, to_texture_op,
           target_.name() + " is where the tensor is read from; it cannot be its own target.");
  const BoundTarget bound(tools, target_);
  if (const GLenum status = device.gl().CheckFramebufferStatus(GL_DRAW_FRAMEBUFFER);
      status != GL_FRAMEBUFFER_COMPLETE) {
    device.take_error();  // the reason is the status
    fail(ErrorCode::invalid_argument, to_texture_op,
         device.info().name + " cannot draw to " + target_.name() + ", framebuffer status " + hex(status) + ".");
  }
}

std::string TextureExport::type() const { return TargetType{vector_of(target_.texels), flip_y_}.text(); }

bool TextureExport::reads(const HostSource& source) const { return target_.has(import_of(source).texture()); }

bool TextureExport::reads(const Storage& storage) const { return target_.has(texture_of(storage).texture()); }

void TextureExport::prepare(const PassTools& tools, const Dispatch& dispatch) const {
  check(tools, dispatch);
  program(tools);
}

void TextureExport::run(const PassTools& tools, const Dispatch& dispatch) const {
  const GladGLES2Context& gl = tools.device.gl();
  const BoundTarget bound(tools, target_);
  tools.device.set_viewport(target_.x, target_.y, target_.width, target_.height);
  const GLuint used = program(tools);
  gl.UseProgram(used);
  gl.Uniform2i(gl.GetUniformLocation(used, "size"), target_.width, target_.height);
  gl.Uniform2i(gl.GetUniformLocation(used, "corner"), target_.x, target_.y);
  gl.Uniform1i(gl.GetUniformLocation(used, "first"), narrow<GLint>(dispatch.inputs[0].first));
  gl.Uniform1i(gl.GetUniformLocation(used, "flip_y"), flip_y_);
  tools.bind_texture(GL_TEXTURE_2D, texture_of(*dispatch.inputs[0].storage).texture());
  tools.draw_triangle();
}

GLuint TextureExport::program(const PassTools& tools) const {
  const bool is_u8 = image_.dtype == DType::u8, is_real = target_.texels == Texels::floats;
  const std::string pixel = vector_of(target_.texels);
  const std::string sampler = is_u8 ? "usampler2D" : "sampler2D", channels = std::to_string(image_.channels);
  return tools.programs.get("export " + sampler + " " + channels + " " + pixel, [&] {
    return fill_template(
        embedded_shader("to_texture.glsl"),
        {{"declarations", "uniform " + sampler + " image;\nlayout(location = 0) out " + pixel +
                              " result;\nconst int channels = " + channels +
                              ";\nconst float scale = " + (is_u8 && is_real ? "1.0 / 255.0" : "1.0") + ";\n"},
         {"result", is_real ? "  result = value;\n" : "  result = " + pixel + "(round(value));\n"}});
  });
}

}  // namespace tessera::gles
