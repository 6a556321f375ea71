#include "backend_gles/texture_export.h"

#include <algorithm>

#include "backend_gles/desktop_state.h"
#include "backend_gles/egl.h"
#include "backend_gles/known_objects.h"
#include "backend_gles/pixel_shader.h"
#include "backend_gles/storage.h"
#include "backend_gles/texture_import.h"
#include "core/base/fail.h"

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

Target::Target(const Device& device, const HostTexture& host) : attached{host.texture} {
  const Entered entered(device);
  require_texture_of_host(device, host.texture, to_texture_op);
  const TextureTraits traits = traits_of(device, host, to_texture_op);
  texels = traits.texels;
  is_whole = traits.is_whole;
  const TexturePart& part = traits.part;
  texture = AttachedTexture{host.texture, host.target, part.level, part.layer};
  width = part.width;
  height = part.height;
  x = part.x;
  y = part.y;
}

Target::Target(const Device& device, const HostFramebuffer& host)
    : framebuffer(host.framebuffer), width(host.width), height(host.height), x(host.x), y(host.y) {
  const Entered entered(device, state::draw_framebuffer);
  require_framebuffer(device, framebuffer, to_texture_op);
  device.gl().BindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
  if (is_window()) return;  // it has colors, and no textures
  KnownObjects* const known = device.known_objects();
  if (known && known->framebuffer_traits.contains(framebuffer)) {
    texels = known->framebuffer_traits[framebuffer].texels;
    attached = known->framebuffer_traits[framebuffer].attached;
    return;
  }
  texels = texels_of_attachment(device, attachment());
  attached = textures_of_framebuffer(device);
  device.take_error();  // TextureExport::check() tells what is wrong
  if (known) known->framebuffer_traits[framebuffer] = {texels, attached};
}

std::string Target::name() const {
  return texture ? "texture " + std::to_string(texture->texture) : "framebuffer " + std::to_string(framebuffer);
}

BoundTextures::BoundTextures(const PassTools& tools, std::span<const AttachedTexture> textures)
    : gl_(tools.device.gl()),
      count_(textures.size()),
      encodes_srgb_(tools.device.is_desktop() && !gl_.IsEnabled(framebuffer_srgb)) {
  if (encodes_srgb_) gl_.Enable(framebuffer_srgb);  // as OpenGL ES always does
  gl_.BindFramebuffer(GL_DRAW_FRAMEBUFFER, tools.scratch_framebuffer);
  for (std::size_t i = 0; i < count_; ++i) attach(gl_, color_attachment(i), textures[i]);
  if (count_ != 1) draw_to_first(count_);
}

// Between passes the framebuffer is drawn to as a new one is: its first attachment only.
void BoundTextures::draw_to_first(std::size_t count) const {
  std::vector<GLenum> drawn;
  for (std::size_t i = 0; i < count; ++i) drawn.push_back(color_attachment(i));
  gl_.DrawBuffers(narrow<GLsizei>(count), drawn.data());
}

BoundTextures::~BoundTextures() {
  if (encodes_srgb_) gl_.Disable(framebuffer_srgb);
  for (std::size_t i = 0; i < count_; ++i) detach(gl_, color_attachment(i));
  if (count_ != 1) draw_to_first(1);
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

void TextureExport::check(const PassTools& tools, const Dispatch& dispatch) const {
  if (!target_.texture) require_framebuffer(tools.device, target_.framebuffer, to_texture_op);
  for (const BoundInput& input : dispatch.inputs)
    if (input.storage ? reads(*input.storage) : input.source && reads(*input.source))
      fail(ErrorCode::invalid_argument, to_texture_op,
           target_.name() + " is where the tensor is read from; it cannot be its own target.");
}

void TextureExport::require_complete(const Device& device) const {
  KnownObjects* const known = device.known_objects();
  const AttachedTexture drawn = target_.texture.value_or(AttachedTexture{0});
  const KnownObjects::TargetKey key{target_.framebuffer, drawn.texture, drawn.target, drawn.level, drawn.layer};
  if (known && known->complete_targets.contains(key)) return;
  if (const GLenum status = device.gl().CheckFramebufferStatus(GL_DRAW_FRAMEBUFFER);
      status != GL_FRAMEBUFFER_COMPLETE) {
    device.take_error();  // the reason is the status, or that the host has deleted the texture
    if (target_.texture) require_texture(device, target_.texture->texture, to_texture_op, 0);
    fail(ErrorCode::invalid_argument, to_texture_op,
         device.info().name + " cannot draw to " + target_.name() + ", framebuffer status " + hex(status) + ".");
  }
  if (known) known->complete_targets.insert(key);
  device.note_new_work();
}

std::string TextureExport::type() const {
  return TargetType{vector_of(target_.texels), flip_y_, is_from_corner()}.text();
}

std::uint64_t TextureExport::type_number() const {
  return static_cast<std::uint64_t>(target_.texels) << 2 | std::uint64_t{flip_y_} << 1 |
         std::uint64_t{is_from_corner()};
}

bool TextureExport::reads(const HostSource& source) const { return import_of(source).is_among(target_.attached); }

bool TextureExport::reads(const Storage& storage) const {
  return std::ranges::count(target_.attached, texture_of(storage).texture()) != 0;
}

}  // namespace tessera::gles
