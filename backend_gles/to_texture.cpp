// gles::to_texture
#include <optional>
#include <vector>

#include "backend_gles/backend.h"
#include "backend_gles/egl.h"
#include "backend_gles/host_objects.h"
#include "backend_gles/host_pass.h"
#include "backend_gles/storage.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include "core/kernel/embedded_shader.h"
#include "core/kernel/shader_text.h"

namespace tessera::gles {
namespace {

constexpr std::string_view to_texture_op = "gles::to_texture";

struct Target {
  explicit Target(const HostTexture& host) : texture(host.texture), width(host.width), height(host.height) {}
  explicit Target(const HostFramebuffer& host)
      : framebuffer(host.framebuffer), width(host.width), height(host.height), x(host.x), y(host.y) {}

  bool is_window() const { return !texture && framebuffer == 0; }
  std::string name() const {
    return texture ? "texture " + std::to_string(*texture) : "framebuffer " + std::to_string(framebuffer);
  }

  std::optional<GLuint> texture;  // else a framebuffer
  GLuint framebuffer = 0;
  int width, height, x = 0, y = 0;
};

// The target as the framebuffer that is drawn to, with color attachment 0, or the window's back buffer, as the one draw
// buffer. All that belongs to the host's framebuffer is put back, with or without AdoptOptions::restore_state.
class BoundTarget {
 public:
  BoundTarget(const PassTools& tools, const Target& target) : gl_(tools.device.gl()), target_(target) {
    if (target_.texture) {
      gl_.BindFramebuffer(GL_DRAW_FRAMEBUFFER, tools.scratch_framebuffer);
      attach(*target_.texture);
      return;
    }
    gl_.BindFramebuffer(GL_DRAW_FRAMEBUFFER, target_.framebuffer);
    const GLint buffers = target_.is_window() ? 1 : integer(gl_, GL_MAX_DRAW_BUFFERS);
    for (GLint i = 0; i < buffers; ++i)
      draw_buffers_.push_back(static_cast<GLenum>(integer(gl_, GL_DRAW_BUFFER0 + static_cast<GLenum>(i))));
    const GLenum drawn = attachment();
    gl_.DrawBuffers(1, &drawn);
  }
  ~BoundTarget() {
    if (target_.texture) attach(0);
    else gl_.DrawBuffers(narrow<GLsizei>(draw_buffers_.size()), draw_buffers_.data());
  }
  BoundTarget(const BoundTarget&) = delete;
  BoundTarget& operator=(const BoundTarget&) = delete;

  GLenum attachment() const { return target_.is_window() ? GL_BACK : GL_COLOR_ATTACHMENT0; }

 private:
  void attach(GLuint texture) const {
    gl_.FramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  }

  const GladGLES2Context& gl_;
  const Target& target_;
  std::vector<GLenum> draw_buffers_;
};

// Writes an image into a texture or a framebuffer of the host's.
class TextureExport final : public GlesPass {
 public:
  TextureExport(const HostImage& image, const Target& target, bool flip_y)
      : image_(image), target_(target), flip_y_(flip_y) {}

  void prepare(const PassTools& tools, const Dispatch& dispatch) const override {
    if (target_.texture) require_writable_texture(tools.device, *target_.texture, to_texture_op);
    else require_framebuffer(tools.device, target_.framebuffer, to_texture_op);
    if (const Storage* input = dispatch.inputs[0].storage;
        target_.texture && input && texture_of(*input).texture() == *target_.texture)
      fail(ErrorCode::invalid_argument, to_texture_op,
           target_.name() + " is where the tensor is read from; it cannot be its own target.");
    const BoundTarget bound(tools, target_);
    if (const GLenum status = tools.device.gl().CheckFramebufferStatus(GL_DRAW_FRAMEBUFFER);
        status != GL_FRAMEBUFFER_COMPLETE) {
      tools.device.take_error();  // the reason is the status
      fail(
          ErrorCode::invalid_argument, to_texture_op,
          tools.device.info().name + " cannot draw to " + target_.name() + ", framebuffer status " + hex(status) + ".");
    }
    program(tools, texels_of_attachment(tools.device, bound.attachment()));
  }

  void run(const PassTools& tools, const Dispatch& dispatch) const override {
    const GladGLES2Context& gl = tools.device.gl();
    const BoundTarget bound(tools, target_);
    gl.Viewport(target_.x, target_.y, target_.width, target_.height);
    const GLuint used = program(tools, texels_of_attachment(tools.device, bound.attachment()));
    gl.UseProgram(used);
    gl.Uniform2i(gl.GetUniformLocation(used, "size"), target_.width, target_.height);
    gl.Uniform2i(gl.GetUniformLocation(used, "corner"), target_.x, target_.y);
    gl.Uniform1i(gl.GetUniformLocation(used, "first"), narrow<GLint>(dispatch.inputs[0].first));
    gl.Uniform1i(gl.GetUniformLocation(used, "flip_y"), flip_y_);
    tools.bind_texture(GL_TEXTURE_2D, texture_of(*dispatch.inputs[0].storage).texture());
    tools.draw_triangle();
  }

 private:
  GLuint program(const PassTools& tools, Texels texels) const {
    const bool is_u8 = image_.dtype == DType::u8, is_real = texels == Texels::floats;
    const std::string pixel = is_real ? "vec4" : texels == Texels::signed_integers ? "ivec4" : "uvec4";
    const std::string sampler = is_u8 ? "usampler2D" : "sampler2D", channels = std::to_string(image_.channels);
    return tools.programs.get("export " + sampler + " " + channels + " " + pixel, [&] {
      return fill_template(
          embedded_shader("to_texture.glsl"),
          {{"declarations", "uniform highp " + sampler + " image;\nlayout(location = 0) out highp " + pixel +
                                " result;\nconst int channels = " + channels +
                                ";\nconst float scale = " + (is_u8 && is_real ? "1.0 / 255.0" : "1.0") + ";\n"},
           {"result", is_real ? "  result = value;\n" : "  result = " + pixel + "(round(value));\n"}});
    });
  }

  HostImage image_;
  Target target_;
  bool flip_y_;
};

// Runs `check`, for which the device is that of the target, and then the pass.
template <class Check>
void write(const Tensor& tensor, const Target& target, const ToTextureOptions& options, ContextState& context,
           const Check& check) {
  const HostImage image = host_image(to_texture_op, tensor);
  check_target(to_texture_op, tensor, image, target.width, target.height);
  context.recovery.run_on_this_device(
      "gles::to_texture: nothing was written, and the texture or framebuffer is gone with its context; make it again "
      "in one that shares with what gles::host_context() gives now, and call again.",
      [&] {
        check(*present_backend<GlesBackend>(to_texture_op, context).own_device());
        show(context, tensor, TextureExport(image, target, options.flip_y), options.also_compute);
      });
}

}  // namespace

void to_texture(const Tensor& tensor, const HostTexture& target, const ToTextureOptions& options) {
  const LockedContext locked(tensor);
  ContextState& context = *locked;
  present_backend<GlesBackend>(to_texture_op, context);
  if (target.is_external) fail(ErrorCode::invalid_argument, to_texture_op, "an external texture cannot be drawn to.");
  if (target.channels != "RGBA")
    fail(ErrorCode::invalid_argument, to_texture_op,
         "whole texels are written, but channels is \"" + target.channels + "\".");
  write(tensor, Target(target), options, context, [&](const Device& device) {
    const Entered entered(device, touch::texture | state::draw_framebuffer);
    require_writable_texture(device, target.texture, to_texture_op);
    traits_of(device, target, to_texture_op);
  });
}

void to_texture(const Tensor& tensor, const HostFramebuffer& target, const ToTextureOptions& options) {
  const LockedContext locked(tensor);
  ContextState& context = *locked;
  present_backend<GlesBackend>(to_texture_op, context);
  write(tensor, Target(target), options, context, [](const Device&) {});
}

}  // namespace tessera::gles
