// The GL state that passes rely on, and how a host's own is put back after them.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "backend_gles/desktop_state.h"
#include "backend_gles/device.h"
#include <tessera/gles.h>

namespace tessera::gles {

constexpr GLenum external_binding = 0x8D67;  // GL_TEXTURE_BINDING_EXTERNAL_OES

GLint integer(const GladGLES2Context&, GLenum name);  // glGetIntegerv of one value

struct Capability {
  GLenum name;
  std::uint32_t state;
};
std::span<const Capability> capabilities(const Device&);  // those that change the result of a pass

// The states that each kind of work sets.
namespace touch {
inline constexpr std::uint32_t compiling = state::program | state::transform_feedback;
inline constexpr std::uint32_t texture = state::active_texture | state::textures;
inline constexpr std::uint32_t upload = texture | state::pixel_unpack | state::compatibility;
inline constexpr std::uint32_t download =
    state::read_framebuffer | state::draw_framebuffer | state::pixel_pack | state::compatibility;
inline constexpr std::uint32_t disabled =
    state::blend | state::cull_face | state::depth_test | state::dither | state::polygon_offset_fill |
    state::rasterizer_discard | state::sample_alpha_to_coverage | state::sample_coverage | state::scissor_test |
    state::stencil_test | state::sample_mask | state::color_logic_op | state::polygon_smooth |
    state::primitive_restart | state::sample_alpha_to_one;
inline constexpr std::uint32_t desktop = state::polygon_mode | state::clip_distances | state::compatibility;
inline constexpr std::uint32_t drawing = compiling | texture | disabled | desktop | state::vertex_array |
                                         state::draw_framebuffer | state::viewport | state::color_mask |
                                         state::samplers;
}  // namespace touch

// The state of the bindings of such textures, and the name by which glGet tells which one is bound; 0: there are none.
std::uint32_t state_of_textures(GLenum target);
GLenum binding_of_textures(GLenum target);

// How many texture units and draw buffers work uses, each from 0 on.
struct Places {
  int units = 1, draw_buffers = 1;
};

// Sets, of these states, those that passes rely on and do not set themselves.
void set_working_state(const Device&, std::uint32_t states, int draw_buffers);

using ColorMask = std::array<GLint, 4>;

// The host's values of some states, in these places.
class SavedState {
 public:
  SavedState(const Device&, std::uint32_t states, const Places&);
  void restore() const;
  std::uint32_t not_working() const;  // those of the states that are not, or may not be, as passes rely on them
  Dirtied dirtied() const;            // the states that stay set where nothing is put back

 private:
  static constexpr int most_units = 16, most_draw_buffers = 8, texture_kinds = 5;
  struct PixelStore {
    std::array<GLint, 5> values;
    GLint buffer;
  };
  PixelStore saved(std::span<const GLenum> names, GLenum buffer) const;
  void restore(const PixelStore&, std::span<const GLenum> names, GLenum target) const;
  void save_draw_buffers(std::uint32_t states);
  void restore_draw_buffers() const;
  void save_units();
  void restore_units() const;

  const Device& device_;
  std::uint32_t states_;
  Places places_;
  std::uint32_t enabled_ = 0;
  std::uint32_t blended_ = 0;  // bit k: draw buffer k, from 1 on, blends
  bool has_paused_ = false;
  GLint program_ = 0, vertex_array_ = 0, draw_framebuffer_ = 0, read_framebuffer_ = 0, active_texture_ = 0;
  std::array<GLfloat, 4> viewport_{};
  std::array<ColorMask, most_draw_buffers> color_masks_{};
  std::array<std::array<GLint, texture_kinds>, most_units> textures_{};
  std::array<GLint, most_units> samplers_{};
  PixelStore unpack_{}, pack_{};
  SavedDesktopState desktop_;
};

// Enters the device for the length of a scope, in which these states are set. Throws wrong_thread or device_lost.
class Entered {
 public:
  explicit Entered(const Device&, std::uint32_t states = 0, const Places& = {});
  ~Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  CurrentContext current_;
  const Device& device_;
  std::optional<SavedState> saved_;
  std::unique_ptr<class StateSnapshot> snapshot_;
};

}  // namespace tessera::gles
