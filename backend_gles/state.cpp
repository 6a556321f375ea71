#include "backend_gles/state.h"

#include <algorithm>

#include "backend_gles/host_objects.h"
#include "backend_gles/state_snapshot.h"

namespace tessera::gles {
namespace {

constexpr GLenum sample_mask = 0x8E51;  // GL_SAMPLE_MASK of OpenGL ES 3.1

constexpr Capability every_capability[] = {
    {GL_BLEND, state::blend},
    {GL_CULL_FACE, state::cull_face},
    {GL_DEPTH_TEST, state::depth_test},
    {GL_DITHER, state::dither},
    {GL_POLYGON_OFFSET_FILL, state::polygon_offset_fill},
    {GL_RASTERIZER_DISCARD, state::rasterizer_discard},
    {GL_SAMPLE_ALPHA_TO_COVERAGE, state::sample_alpha_to_coverage},
    {GL_SAMPLE_COVERAGE, state::sample_coverage},
    {GL_SCISSOR_TEST, state::scissor_test},
    {GL_STENCIL_TEST, state::stencil_test},
    {sample_mask, state::sample_mask},
    // Of desktop OpenGL.
    {0x0BF2, state::color_logic_op},
    {0x0B41, state::polygon_smooth},
    {0x8F9D, state::primitive_restart},
    {0x809F, state::sample_alpha_to_one},
};

struct TextureBinding {
  std::uint32_t state;
  GLenum target, name;
};
constexpr std::array<TextureBinding, 5> texture_bindings{{
    {state::textures, GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D},
    {state::external_textures, texture_external, external_binding},
    {state::other_textures, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BINDING_2D_ARRAY},
    {state::other_textures, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP},
    {state::other_textures, GL_TEXTURE_3D, GL_TEXTURE_BINDING_3D},
}};
constexpr std::uint32_t all_textures = state::textures | state::external_textures | state::other_textures;

// The last of each is desktop OpenGL's: GL_UNPACK_SWAP_BYTES and GL_PACK_SWAP_BYTES.
constexpr GLenum unpack_names[] = {GL_UNPACK_ALIGNMENT, GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_PIXELS,
                                   GL_UNPACK_SKIP_ROWS, 0x0CF0};
constexpr GLenum pack_names[] = {GL_PACK_ALIGNMENT, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_ROWS, 0x0D00};
constexpr GLint working_pixel_store[] = {1, 0, 0, 0, 0};

std::span<const GLenum> of_this_api(const Device& device, std::span<const GLenum, 5> names) {
  return names.first(device.is_desktop() ? 5 : 4);
}

void set_color_mask(const Device& device, GLuint draw_buffer, const ColorMask& mask) {
  const auto set = [&](auto function, auto... place) {
    function(place..., mask[0] != 0, mask[1] != 0, mask[2] != 0, mask[3] != 0);
  };
  if (const auto set_one = device.functions().ColorMaski) set(set_one, draw_buffer);
  else set(device.gl().ColorMask);
}

// Whether each draw buffer, or each viewport, has the capability for itself.
bool is_indexed(const Device& device, GLenum name) {
  const LaterFunctions& functions = device.functions();
  return functions.Enablei && (name == GL_BLEND || (name == GL_SCISSOR_TEST && functions.ViewportIndexedf));
}

void set_capability(const Device& device, GLenum name, bool is_on, GLuint index = 0) {
  const LaterFunctions& functions = device.functions();
  if (is_indexed(device, name)) (is_on ? functions.Enablei : functions.Disablei)(name, index);
  else (is_on ? device.gl().Enable : device.gl().Disable)(name);
}

bool is_enabled(const Device& device, GLenum name, GLuint index = 0) {
  return is_indexed(device, name) ? device.functions().IsEnabledi(name, index) : device.gl().IsEnabled(name);
}

// The draw buffers, of those that work uses, whose masks and blending are set one by one.
GLuint apart(const Device& device, int draw_buffers) {
  return device.functions().ColorMaski ? narrow<GLuint>(draw_buffers) : 1;
}

}  // namespace

GLint integer(const GladGLES2Context& gl, GLenum name) {
  GLint value = 0;
  gl.GetIntegerv(name, &value);
  return value;
}

std::span<const Capability> capabilities(const Device& device) {
  const std::span all(every_capability);
  constexpr std::size_t of_es_3_0 = 10;
  return device.is_desktop() ? all : all.first(of_es_3_0 + (device.api().version >= 31 ? 1 : 0));
}

std::uint32_t state_of_textures(GLenum target) {
  for (const TextureBinding& binding : texture_bindings)
    if (binding.target == target) return binding.state;
  return 0;
}

GLenum binding_of_textures(GLenum target) {
  for (const TextureBinding& binding : texture_bindings)
    if (binding.target == target) return binding.name;
  return 0;
}

void set_working_state(const Device& device, std::uint32_t states, int draw_buffers) {
  const GladGLES2Context& gl = device.gl();
  if (states & touch::disabled)
    for (const Capability& capability : capabilities(device))
      if (states & capability.state) set_capability(device, capability.name, false);
  for (GLuint i = 0; (states & (state::blend | state::color_mask)) && i < apart(device, draw_buffers); ++i) {
    if (states & state::blend) set_capability(device, GL_BLEND, false, i);
    if (states & state::color_mask) set_color_mask(device, i, {GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE});
  }
  constexpr std::uint32_t pixel_store = state::pixel_unpack | state::pixel_pack;
  for (std::size_t i = 0; (states & pixel_store) && i < of_this_api(device, pack_names).size(); ++i) {
    if (states & state::pixel_unpack) gl.PixelStorei(unpack_names[i], working_pixel_store[i]);
    if (states & state::pixel_pack) gl.PixelStorei(pack_names[i], working_pixel_store[i]);
  }
  set_working_desktop_state(device, states);
  if (states & state::pixel_unpack) gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

SavedState::SavedState(const Device& device, std::uint32_t states, const Places& places)
    : device_(device),
      states_(states),
      places_{std::min(places.units, most_units), std::min(places.draw_buffers, most_draw_buffers)},
      // Where nothing is put back, dirtied() needs these states only.
      desktop_(device, device.restores_state() ? states : states & touch::desktop) {
  const GladGLES2Context& gl = device.gl();
  if (!device.restores_state()) states &= touch::disabled | state::transform_feedback;
  for (const Capability& capability : capabilities(device))
    if ((states & capability.state) && is_enabled(device, capability.name)) enabled_ |= capability.state;
  if (states & state::program) program_ = integer(gl, GL_CURRENT_PROGRAM);
  if (states & state::vertex_array) vertex_array_ = integer(gl, GL_VERTEX_ARRAY_BINDING);
  if (states & state::draw_framebuffer) draw_framebuffer_ = integer(gl, GL_DRAW_FRAMEBUFFER_BINDING);
  if (states & state::read_framebuffer) read_framebuffer_ = integer(gl, GL_READ_FRAMEBUFFER_BINDING);
  if (states & state::viewport) {
    if (const auto get = device.functions().GetFloati_v) get(GL_VIEWPORT, 0, viewport_.data());
    else gl.GetFloatv(GL_VIEWPORT, viewport_.data());
  }
  save_draw_buffers(states);
  if (states & state::active_texture) active_texture_ = integer(gl, GL_ACTIVE_TEXTURE);
  if (states & (all_textures | state::samplers)) save_units();
  if (states & state::pixel_unpack) unpack_ = saved(of_this_api(device, unpack_names), GL_PIXEL_UNPACK_BUFFER_BINDING);
  if (states & state::pixel_pack) pack_ = saved(of_this_api(device, pack_names), GL_PIXEL_PACK_BUFFER_BINDING);
  if ((states & state::transform_feedback) && gl.PauseTransformFeedback)
    has_paused_ = integer(gl, GL_TRANSFORM_FEEDBACK_ACTIVE) && !integer(gl, GL_TRANSFORM_FEEDBACK_PAUSED);
  if (has_paused_) gl.PauseTransformFeedback();  // or no other program could be used
}

void SavedState::restore() const {
  const GladGLES2Context& gl = device_.gl();
  if (enabled_ != 0)
    for (const Capability& capability : capabilities(device_))
      if (enabled_ & capability.state) set_capability(device_, capability.name, true);
  if (states_ & state::program) gl.UseProgram(static_cast<GLuint>(program_));
  if (states_ & state::vertex_array) gl.BindVertexArray(static_cast<GLuint>(vertex_array_));
  if (states_ & state::draw_framebuffer)
    gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(draw_framebuffer_));
  if (states_ & state::read_framebuffer)
    gl.BindFramebuffer(GL_READ_FRAMEBUFFER, static_cast<GLuint>(read_framebuffer_));
  if (states_ & state::viewport) {
    if (const auto set = device_.functions().ViewportIndexedf)
      set(0, viewport_[0], viewport_[1], viewport_[2], viewport_[3]);
    else
      gl.Viewport(static_cast<GLint>(viewport_[0]), static_cast<GLint>(viewport_[1]),
                  static_cast<GLsizei>(viewport_[2]), static_cast<GLsizei>(viewport_[3]));
  }
  if (not_working() & (state::color_mask | state::blend)) restore_draw_buffers();
  if (states_ & (all_textures | state::samplers)) restore_units();
  if (states_ & state::active_texture) gl.ActiveTexture(static_cast<GLenum>(active_texture_));
  if (states_ & state::pixel_unpack) restore(unpack_, of_this_api(device_, unpack_names), GL_PIXEL_UNPACK_BUFFER);
  if (states_ & state::pixel_pack) restore(pack_, of_this_api(device_, pack_names), GL_PIXEL_PACK_BUFFER);
  desktop_.restore(device_);
  if (has_paused_) gl.ResumeTransformFeedback();  // its program is current again
}

std::uint32_t SavedState::not_working() const {
  std::uint32_t states = (states_ & ~touch::disabled) | enabled_;
  if (blended_ != 0) states |= state::blend;
  const auto is_whole = [](const ColorMask& mask) { return mask[0] && mask[1] && mask[2] && mask[3]; };
  const std::span masks = std::span(color_masks_).first(apart(device_, places_.draw_buffers));
  if (device_.restores_state() && std::ranges::all_of(masks, is_whole)) states &= ~state::color_mask;
  return states;
}

Dirtied SavedState::dirtied() const {
  std::uint32_t states = (states_ & ~touch::disabled) | enabled_;  // others were off before
  if (blended_ != 0) states |= state::blend;
  if (!has_paused_) states &= ~state::transform_feedback;
  states = (states & ~touch::desktop) | desktop_.unusual();
  const bool has_units = states & (all_textures | state::samplers);
  return {states, has_units ? (1u << places_.units) - 1 : 0};
}

SavedState::PixelStore SavedState::saved(std::span<const GLenum> names, GLenum buffer) const {
  PixelStore store{};
  for (std::size_t i = 0; i < names.size(); ++i) store.values[i] = integer(device_.gl(), names[i]);
  store.buffer = integer(device_.gl(), buffer);
  return store;
}

void SavedState::restore(const PixelStore& store, std::span<const GLenum> names, GLenum target) const {
  for (std::size_t i = 0; i < names.size(); ++i) device_.gl().PixelStorei(names[i], store.values[i]);
  device_.gl().BindBuffer(target, static_cast<GLuint>(store.buffer));
}

void SavedState::save_draw_buffers(std::uint32_t states) {
  const GladGLES2Context& gl = device_.gl();
  if (states & state::color_mask) gl.GetIntegerv(GL_COLOR_WRITEMASK, color_masks_[0].data());
  for (GLuint i = 1; i < apart(device_, places_.draw_buffers); ++i) {
    if (states & state::color_mask) gl.GetIntegeri_v(GL_COLOR_WRITEMASK, i, color_masks_[i].data());
    if ((states & state::blend) && is_enabled(device_, GL_BLEND, i)) blended_ |= 1u << i;
  }
}

void SavedState::restore_draw_buffers() const {
  for (GLuint i = 0; i < apart(device_, places_.draw_buffers); ++i) {
    if (states_ & state::color_mask) set_color_mask(device_, i, color_masks_[i]);
    if (blended_ >> i & 1) set_capability(device_, GL_BLEND, true, i);
  }
}

void SavedState::save_units() {
  const GladGLES2Context& gl = device_.gl();
  for (int unit = 0; unit < places_.units; ++unit) {
    const auto at = static_cast<std::size_t>(unit);
    gl.ActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
    for (std::size_t kind = 0; kind < texture_bindings.size(); ++kind)
      if (states_ & texture_bindings[kind].state) textures_[at][kind] = integer(gl, texture_bindings[kind].name);
    if (states_ & state::samplers) samplers_[at] = integer(gl, GL_SAMPLER_BINDING);
  }
}

void SavedState::restore_units() const {
  const GladGLES2Context& gl = device_.gl();
  for (int unit = 0; unit < places_.units; ++unit) {
    const auto at = static_cast<std::size_t>(unit);
    gl.ActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
    for (std::size_t kind = 0; kind < texture_bindings.size(); ++kind)
      if (states_ & texture_bindings[kind].state)
        gl.BindTexture(texture_bindings[kind].target, static_cast<GLuint>(textures_[at][kind]));
    if (states_ & state::samplers) gl.BindSampler(static_cast<GLuint>(unit), static_cast<GLuint>(samplers_[at]));
  }
}

Entered::Entered(const Device& device, std::uint32_t states, const Places& places)
    : current_(device.context()), device_(device) {
  device.require(current_);
  device.delete_waiting();
  if (!device.context().is_borrowed()) return;  // its state is as set_working_state() left it
  if (states == 0) return;
  device.pass_on_errors_of_host();
  if (states & state::viewport) require_unconditional_rendering(device);
  if (device.checks_state()) snapshot_ = std::make_unique<StateSnapshot>(device);
  saved_.emplace(device, states, places);
  set_working_state(device, saved_->not_working(), places.draw_buffers);
}

Entered::~Entered() {
  if (!saved_) return;
  if (device_.restores_state()) saved_->restore();
  else device_.note_dirtied(saved_->dirtied());
  if (!snapshot_ || !device_.restores_state()) return;
  if (const std::string changed = snapshot_->difference(StateSnapshot(device_)); !changed.empty())
    device_.tell(Message::Level::error, "GL state of the host is not as it was: " + changed);
}

}  // namespace tessera::gles
