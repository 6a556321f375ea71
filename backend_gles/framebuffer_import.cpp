#include <algorithm>

#include "backend_gles/egl.h"
#include "backend_gles/pixel_shader.h"
#include "backend_gles/state.h"
#include "backend_gles/texture_format.h"
#include "backend_gles/texture_import.h"
#include "core/base/fail.h"

namespace tessera::gles {
namespace {

// While it lives, a renderbuffer of the host's is bound.
class BoundRenderbuffer {
 public:
  BoundRenderbuffer(const GladGLES2Context& gl, GLuint name) : gl_(gl), before_(integer(gl, GL_RENDERBUFFER_BINDING)) {
    gl_.BindRenderbuffer(GL_RENDERBUFFER, name);
  }
  ~BoundRenderbuffer() { gl_.BindRenderbuffer(GL_RENDERBUFFER, static_cast<GLuint>(before_)); }
  BoundRenderbuffer(const BoundRenderbuffer&) = delete;
  BoundRenderbuffer& operator=(const BoundRenderbuffer&) = delete;

  GLint parameter(GLenum name) const {
    GLint value = 0;
    gl_.GetRenderbufferParameteriv(GL_RENDERBUFFER, name, &value);
    return value;
  }

 private:
  const GladGLES2Context& gl_;
  GLint before_;
};

// The formats of windows and textures, by the bits of their components.
struct FormatBits {
  GLenum format;
  GLint type;
  std::array<GLint, 4> bits;
};
constexpr FormatBits formats_by_bits[] = {{GL_RGBA8, GL_UNSIGNED_NORMALIZED, {8, 8, 8, 8}},
                                          {GL_RGB8, GL_UNSIGNED_NORMALIZED, {8, 8, 8, 0}},
                                          {GL_RG8, GL_UNSIGNED_NORMALIZED, {8, 8, 0, 0}},
                                          {GL_R8, GL_UNSIGNED_NORMALIZED, {8, 0, 0, 0}},
                                          {GL_RGB565, GL_UNSIGNED_NORMALIZED, {5, 6, 5, 0}},
                                          {GL_RGBA4, GL_UNSIGNED_NORMALIZED, {4, 4, 4, 4}},
                                          {GL_RGB5_A1, GL_UNSIGNED_NORMALIZED, {5, 5, 5, 1}},
                                          {GL_RGB10_A2, GL_UNSIGNED_NORMALIZED, {10, 10, 10, 2}},
                                          {GL_RGBA16F, GL_FLOAT, {16, 16, 16, 16}},
                                          {GL_R16F, GL_FLOAT, {16, 0, 0, 0}},
                                          {GL_RG16F, GL_FLOAT, {16, 16, 0, 0}},
                                          {GL_RGBA32F, GL_FLOAT, {32, 32, 32, 32}},
                                          {GL_R32F, GL_FLOAT, {32, 0, 0, 0}},
                                          {GL_RG32F, GL_FLOAT, {32, 32, 0, 0}},
                                          {GL_R11F_G11F_B10F, GL_FLOAT, {11, 11, 10, 0}},
                                          {GL_RGBA8UI, GL_UNSIGNED_INT, {8, 8, 8, 8}},
                                          {GL_RGBA8I, GL_INT, {8, 8, 8, 8}},
                                          {GL_RGBA32UI, GL_UNSIGNED_INT, {32, 32, 32, 32}},
                                          {GL_RGBA32I, GL_INT, {32, 32, 32, 32}}};

struct DepthBits {
  GLenum format;
  GLint depth, stencil;
};
constexpr DepthBits depth_formats_by_bits[] = {{GL_DEPTH_COMPONENT16, 16, 0},
                                               {GL_DEPTH_COMPONENT24, 24, 0},
                                               {GL_DEPTH_COMPONENT32F, 32, 0},
                                               {GL_DEPTH24_STENCIL8, 24, 8},
                                               {GL_DEPTH32F_STENCIL8, 32, 8}};

GLenum depth_format_by_bits(const Device& device, GLenum attachment) {
  const GLint depth = attachment_parameter(device, attachment, GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE),
              stencil = attachment_parameter(device, attachment, GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE);
  for (const DepthBits& each : depth_formats_by_bits)
    if (each.depth == depth && each.stencil == stencil) return each.format;
  fail(ErrorCode::unsupported, from_texture_op,
       "no texture has the format of the framebuffer, with " + std::to_string(depth) + " bits of depth and " +
           std::to_string(stencil) + " of stencil.");
}

GLenum format_by_bits(const Device& device, GLenum attachment) {
  const auto parameter = [&](GLenum name) { return attachment_parameter(device, attachment, name); };
  const GLint type = parameter(GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE);
  const std::array<GLint, 4> bits{
      parameter(GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE), parameter(GL_FRAMEBUFFER_ATTACHMENT_GREEN_SIZE),
      parameter(GL_FRAMEBUFFER_ATTACHMENT_BLUE_SIZE), parameter(GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE)};
  for (const FormatBits& each : formats_by_bits)
    if (each.type == type && each.bits == bits) {
      const bool is_srgb = parameter(GL_FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING) == GL_SRGB;
      return is_srgb && each.format == GL_RGBA8 ? GL_SRGB8_ALPHA8 : each.format;
    }
  fail(ErrorCode::unsupported, from_texture_op,
       "no texture has the format of the framebuffer, with " + std::to_string(bits[0]) + ", " +
           std::to_string(bits[1]) + ", " + std::to_string(bits[2]) + " and " + std::to_string(bits[3]) +
           " bits of the component type " + hex(static_cast<unsigned>(type)) + ".");
}

}  // namespace

FramebufferImport::FramebufferImport(const Device& device, const HostFramebuffer& host, const FromFramebuffer& options)
    : host_(host), channels_(options.channels) {
  const std::string name = "framebuffer " + std::to_string(host.framebuffer);
  const Entered entered(device, state::draw_framebuffer);
  const GladGLES2Context& gl = device.gl();
  require_framebuffer(device, host.framebuffer, from_texture_op);
  gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, host.framebuffer);
  if (const GLenum status = gl.CheckFramebufferStatus(GL_DRAW_FRAMEBUFFER); status != GL_FRAMEBUFFER_COMPLETE)
    fail(ErrorCode::invalid_argument, from_texture_op,
         device.info().name + " cannot read " + name + ", framebuffer status " + hex(status) + ".");
  const auto parameter = [&](GLenum what) { return attachment_parameter(device, attachment(), what); };
  const GLint kind = parameter(GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE);
  if (kind == GL_NONE)
    fail(ErrorCode::invalid_argument, from_texture_op,
         name + " has no attachment for the channels \"" + channels_ + "\".");
  const auto object =
      static_cast<GLuint>(kind == GL_FRAMEBUFFER_DEFAULT ? 0 : parameter(GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME));
  if (kind == GL_RENDERBUFFER) {
    const BoundRenderbuffer bound(gl, object);
    format_ = static_cast<GLenum>(bound.parameter(GL_RENDERBUFFER_INTERNAL_FORMAT));
    const GLint width = bound.parameter(GL_RENDERBUFFER_WIDTH), height = bound.parameter(GL_RENDERBUFFER_HEIGHT);
    if (host.x + host.width > width || host.y + host.height > height)
      fail(ErrorCode::invalid_argument, from_texture_op,
           name + " has " + std::to_string(width) + " x " + std::to_string(height) + " pixels, fewer than " +
               std::to_string(host.x + host.width) + " x " + std::to_string(host.y + host.height) + ".");
  } else {
    format_ = copies_colours() ? format_by_bits(device, attachment()) : depth_format_by_bits(device, attachment());
  }
  if (is_stencil(channels_)) require_stencil_textures(device);
  if (is_stencil(channels_) && !has_depth(format_))
    fail(ErrorCode::unsupported, from_texture_op,
         "the stencil of " + name + " is a renderbuffer without depth; make one of GL_DEPTH24_STENCIL8.");
  const Bytes bytes = is_stencil(channels_) ? Bytes::integers : bytes_of(format_);
  value_ = host_value(from_texture_op, options.dtype, bytes, name_of_format(format_));
  if (!gl.TexStorage2D) touches_ |= state::pixel_unpack;  // copies are made as textures are that get pixels
  if (host.framebuffer != 0) attached_ = textures_of_framebuffer(device);
  device.take_error();
}

GLenum FramebufferImport::attachment() const {
  if (is_depth(channels_)) return host_.framebuffer == 0 ? GL_DEPTH : GL_DEPTH_ATTACHMENT;
  if (is_stencil(channels_)) return host_.framebuffer == 0 ? GL_STENCIL : GL_STENCIL_ATTACHMENT;
  return host_.framebuffer == 0 ? GL_BACK : GL_COLOR_ATTACHMENT0;
}

HostImport::Type FramebufferImport::parts_of_type() const {
  return {.texels = is_stencil(channels_) ? Texels::unsigned_integers : texels_of(format_),
          .target = GL_TEXTURE_2D,
          .components = components_number(channels_),
          .value = value_};
}

void FramebufferImport::check(const Device& device) const {
  require_framebuffer(device, host_.framebuffer, from_texture_op);
}

bool FramebufferImport::is_among(const std::vector<GLuint>& textures) const {
  return std::ranges::any_of(attached_, [&](GLuint texture) { return std::ranges::count(textures, texture) != 0; });
}

// The samples of a framebuffer are resolved by a copy to the same place, into the same format.
void FramebufferImport::bind(const PassTools& tools, GLuint unit, bool) const {
  const GladGLES2Context& gl = tools.device.gl();
  const GLint right = host_.x + host_.width, upper = host_.y + host_.height;
  const AttachedTexture copy{tools.copies.get(unit, format_, right, upper)};
  const bool copies_depth = is_depth(channels_);
  const GLenum drawn = copies_colours()       ? GL_COLOR_ATTACHMENT0
                       : has_stencil(format_) ? GL_DEPTH_STENCIL_ATTACHMENT
                                              : GL_DEPTH_ATTACHMENT;
  gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, tools.scratch_framebuffer);
  attach(gl, drawn, copy);
  if (copies_colours()) gl.DrawBuffers(1, &drawn);
  gl.BindFramebuffer(GL_READ_FRAMEBUFFER, host_.framebuffer);
  const auto read_before = static_cast<GLenum>(integer(gl, GL_READ_BUFFER));
  if (copies_colours()) gl.ReadBuffer(attachment());
  gl.BlitFramebuffer(host_.x, host_.y, right, upper, host_.x, host_.y, right, upper,
                     copies_colours() ? GL_COLOR_BUFFER_BIT
                     : copies_depth   ? GL_DEPTH_BUFFER_BIT
                                      : GL_STENCIL_BUFFER_BIT,
                     GL_NEAREST);
  if (copies_colours()) gl.ReadBuffer(read_before);
  detach(gl, drawn);
  tools.bind_texture(GL_TEXTURE_2D, copy.texture, unit);
  if (has_stencil(format_) && has_stencil_textures(tools.device))
    gl.TexParameteri(GL_TEXTURE_2D, depth_stencil_texture_mode,
                     static_cast<GLint>(is_stencil(channels_) ? stencil_index : GL_DEPTH_COMPONENT));
}

}  // namespace tessera::gles
