#include "backend_gles/desktop_state.h"

#include <algorithm>

#include "backend_gles/state.h"

namespace tessera::gles {
namespace {

constexpr GLenum polygon_mode = 0x0B40, fill = 0x1B02;
constexpr GLenum clip_distance_0 = 0x3000, max_clip_distances = 0x0D32;
constexpr GLenum clamp_read_color = 0x891C, clamp_fragment_color = 0x891B, fixed_only = 0x891D;
constexpr GLenum old_tests[] = {0x0BC0, 0x0B42};  // GL_ALPHA_TEST, GL_POLYGON_STIPPLE

// What a compatibility profile does to pixels on their way in and out.
struct PixelTransfer {
  GLenum name;
  GLfloat neutral;
};
constexpr PixelTransfer pixel_transfers[] = {
    {0x0D10, 0},               // GL_MAP_COLOR
    {0x0D14, 1}, {0x0D15, 0},  // GL_RED_SCALE, GL_RED_BIAS
    {0x0D18, 1}, {0x0D19, 0},  // GL_GREEN_…
    {0x0D1A, 1}, {0x0D1B, 0},  // GL_BLUE_…
    {0x0D1C, 1}, {0x0D1D, 0},  // GL_ALPHA_…
};

GLenum clip_distances(const GladGLES2Context& gl) {
  return static_cast<GLenum>(std::clamp(integer(gl, max_clip_distances), 0, 32));
}

}  // namespace

void set_working_desktop_state(const Device& device, std::uint32_t states) {
  if (!device.is_desktop()) return;
  const GladGLES2Context& gl = device.gl();
  const LaterFunctions& functions = device.functions();
  if (states & state::polygon_mode) functions.PolygonMode(GL_FRONT_AND_BACK, fill);
  if (states & state::clip_distances)
    for (GLenum i = 0; i < clip_distances(gl); ++i) gl.Disable(clip_distance_0 + i);
  if (states & state::pixel_pack) functions.ClampColor(clamp_read_color, fixed_only);
  if (!device.api().is_compatible || !(states & state::compatibility)) return;
  functions.ClampColor(clamp_fragment_color, fixed_only);
  for (const GLenum test : old_tests) gl.Disable(test);
  for (const PixelTransfer& transfer : pixel_transfers) functions.PixelTransferf(transfer.name, transfer.neutral);
}

SavedDesktopState::SavedDesktopState(const Device& device, std::uint32_t states)
    : states_(device.is_desktop() ? states : 0) {
  const GladGLES2Context& gl = device.gl();
  if (states_ & state::polygon_mode) {
    gl.GetIntegerv(polygon_mode, polygon_modes_.data());
    if (polygon_modes_[1] == 0) polygon_modes_[1] = polygon_modes_[0];  // core profiles have one for both faces
    if (polygon_modes_ != std::array<GLint, 2>{fill, fill}) unusual_ |= state::polygon_mode;
  }
  if (states_ & state::clip_distances) {
    for (GLenum i = 0; i < clip_distances(gl); ++i)
      if (gl.IsEnabled(clip_distance_0 + i)) clip_distances_ |= 1u << i;
    if (clip_distances_ != 0) unusual_ |= state::clip_distances;
  }
  if (states_ & state::pixel_pack) read_clamp_ = integer(gl, clamp_read_color);
  if (!device.api().is_compatible) states_ &= ~state::compatibility;
  if (states_ & state::compatibility) save_compatibility(device);
}

void SavedDesktopState::save_compatibility(const Device& device) {
  const GladGLES2Context& gl = device.gl();
  fragment_clamp_ = integer(gl, clamp_fragment_color);
  bool is_usual = static_cast<GLenum>(fragment_clamp_) == fixed_only;
  for (std::size_t i = 0; i < old_tests_.size(); ++i) {
    old_tests_[i] = gl.IsEnabled(old_tests[i]);
    is_usual = is_usual && !old_tests_[i];
  }
  for (std::size_t i = 0; i < pixel_transfer_.size(); ++i) {
    gl.GetFloatv(pixel_transfers[i].name, &pixel_transfer_[i]);
    is_usual = is_usual && pixel_transfer_[i] == pixel_transfers[i].neutral;
  }
  if (!is_usual) unusual_ |= state::compatibility;
}

void SavedDesktopState::restore(const Device& device) const {
  const GladGLES2Context& gl = device.gl();
  const LaterFunctions& functions = device.functions();
  if (unusual_ & state::polygon_mode) {
    const auto front = static_cast<GLenum>(polygon_modes_[0]), back = static_cast<GLenum>(polygon_modes_[1]);
    if (front == back) {
      functions.PolygonMode(GL_FRONT_AND_BACK, front);
    } else {
      functions.PolygonMode(GL_FRONT, front);
      functions.PolygonMode(GL_BACK, back);
    }
  }
  for (GLenum i = 0; clip_distances_ != 0 && i < 32; ++i)
    if (clip_distances_ >> i & 1) gl.Enable(clip_distance_0 + i);
  if (states_ & state::pixel_pack) functions.ClampColor(clamp_read_color, static_cast<GLenum>(read_clamp_));
  if (unusual_ & state::compatibility) restore_compatibility(device);
}

void SavedDesktopState::restore_compatibility(const Device& device) const {
  device.functions().ClampColor(clamp_fragment_color, static_cast<GLenum>(fragment_clamp_));
  for (std::size_t i = 0; i < old_tests_.size(); ++i)
    if (old_tests_[i]) device.gl().Enable(old_tests[i]);
  for (std::size_t i = 0; i < pixel_transfer_.size(); ++i)
    device.functions().PixelTransferf(pixel_transfers[i].name, pixel_transfer_[i]);
}

// OpenGL does not tell; but only one can be active.
void require_unconditional_rendering(const Device& device) {
  constexpr GLenum no_wait = 0x8E14;  // GL_QUERY_NO_WAIT
  if (!device.is_desktop()) return;
  const GLuint query = device.idle_query();
  if (query == 0) return;
  device.functions().BeginConditionalRender(query, no_wait);
  const bool is_refused = device.gl().GetError() == GL_INVALID_OPERATION &&
                          device.gl().GetError() == GL_NO_ERROR;  // some drivers repeat one error for ever
  if (is_refused)
    throw Error(ErrorCode::unsupported,
                "The host renders conditionally on " + device.info().name +
                    ", between glBeginConditionalRender and glEndConditionalRender, which would discard the work of "
                    "tessera too. Call tessera before or after.");
  device.functions().EndConditionalRender();
}

std::vector<std::pair<std::string, std::vector<GLint>>> all_desktop_state(const Device& device) {
  struct State {
    const char* text;
    GLenum name;
    std::size_t count = 1;
    int since = 33;
  };
  constexpr State states[] = {{"GL_CLAMP_READ_COLOR", clamp_read_color},
                              {"GL_CLIP_DEPTH_MODE", 0x935D, 1, 45},
                              {"GL_CLIP_ORIGIN", 0x935C, 1, 45},
                              {"GL_DRAW_BUFFER", 0x0C01},
                              {"GL_LOGIC_OP_MODE", 0x0BF0},
                              {"GL_PACK_LSB_FIRST", 0x0D01},
                              {"GL_PACK_SWAP_BYTES", 0x0D00},
                              {"GL_POLYGON_MODE", polygon_mode, 2},
                              {"GL_PRIMITIVE_RESTART_INDEX", 0x8F9E},
                              {"GL_PROGRAM_PIPELINE_BINDING", 0x825A, 1, 41},
                              {"GL_PROVOKING_VERTEX", 0x8E4F},
                              {"GL_UNPACK_LSB_FIRST", 0x0CF1},
                              {"GL_UNPACK_SWAP_BYTES", 0x0CF0}};
  constexpr State switches[] = {{"GL_DEPTH_CLAMP", 0x864F},
                                {"GL_FRAMEBUFFER_SRGB", framebuffer_srgb},
                                {"GL_LINE_SMOOTH", 0x0B20},
                                {"GL_MULTISAMPLE", 0x809D},
                                {"GL_POLYGON_OFFSET_LINE", 0x2A02},
                                {"GL_POLYGON_OFFSET_POINT", 0x2A01},
                                {"GL_PROGRAM_POINT_SIZE", 0x8642},
                                {"GL_SAMPLE_SHADING", 0x8C36, 1, 40},
                                {"GL_TEXTURE_CUBE_MAP_SEAMLESS", 0x884F}};
  std::vector<std::pair<std::string, std::vector<GLint>>> all;
  if (!device.is_desktop()) return all;
  const GladGLES2Context& gl = device.gl();
  const auto is_there = [&](const State& state) { return device.api().version >= state.since; };
  for (const State& state : states)
    if (is_there(state)) {
      std::vector<GLint> values(4);
      gl.GetIntegerv(state.name, values.data());
      values.resize(state.count);
      all.emplace_back(state.text, std::move(values));
    }
  for (const State& state : switches)
    if (is_there(state)) all.emplace_back(state.text, std::vector<GLint>{gl.IsEnabled(state.name)});
  for (GLenum i = 0; i < clip_distances(gl); ++i)
    all.emplace_back("GL_CLIP_DISTANCE" + std::to_string(i), std::vector<GLint>{gl.IsEnabled(clip_distance_0 + i)});
  if (!device.api().is_compatible) return all;
  for (const GLenum test : old_tests)
    all.emplace_back("capability " + std::to_string(test), std::vector<GLint>{gl.IsEnabled(test)});
  all.emplace_back("GL_CLAMP_FRAGMENT_COLOR", std::vector<GLint>{integer(gl, clamp_fragment_color)});
  for (const PixelTransfer& transfer : pixel_transfers) {
    GLfloat value = 0;
    gl.GetFloatv(transfer.name, &value);
    all.emplace_back("pixel transfer " + std::to_string(transfer.name),
                     std::vector<GLint>{static_cast<GLint>(1000 * value)});
  }
  return all;
}

}  // namespace tessera::gles
