#include "backend_gles/state_snapshot.h"

#include <algorithm>

#include "backend_gles/state.h"

namespace tessera::gles {
namespace {

struct StateQuery {
  const char* text;
  GLenum name;
  int count;
  int since_desktop = 33;
};
#define STATE(name, ...) \
  { #name, name, __VA_ARGS__ }
// All states of OpenGL ES 3.0 that glGet knows, but for those with queries of their own below, and the version of
// desktop OpenGL that knows them.
constexpr StateQuery queries[] = {STATE(GL_ACTIVE_TEXTURE, 1),
                                  STATE(GL_ARRAY_BUFFER_BINDING, 1),
                                  STATE(GL_BLEND_DST_ALPHA, 1),
                                  STATE(GL_BLEND_DST_RGB, 1),
                                  STATE(GL_BLEND_EQUATION_ALPHA, 1),
                                  STATE(GL_BLEND_EQUATION_RGB, 1),
                                  STATE(GL_BLEND_SRC_ALPHA, 1),
                                  STATE(GL_BLEND_SRC_RGB, 1),
                                  STATE(GL_COLOR_WRITEMASK, 4),
                                  STATE(GL_COPY_READ_BUFFER_BINDING, 1, 42),
                                  STATE(GL_COPY_WRITE_BUFFER_BINDING, 1, 42),
                                  STATE(GL_CULL_FACE_MODE, 1),
                                  STATE(GL_CURRENT_PROGRAM, 1),
                                  STATE(GL_DEPTH_FUNC, 1),
                                  STATE(GL_DEPTH_WRITEMASK, 1),
                                  STATE(GL_DRAW_FRAMEBUFFER_BINDING, 1),
                                  STATE(GL_ELEMENT_ARRAY_BUFFER_BINDING, 1),
                                  STATE(GL_FRAGMENT_SHADER_DERIVATIVE_HINT, 1),
                                  STATE(GL_FRONT_FACE, 1),
                                  STATE(GL_GENERATE_MIPMAP_HINT, 1, never),
                                  STATE(GL_PACK_ALIGNMENT, 1),
                                  STATE(GL_PACK_ROW_LENGTH, 1),
                                  STATE(GL_PACK_SKIP_PIXELS, 1),
                                  STATE(GL_PACK_SKIP_ROWS, 1),
                                  STATE(GL_PIXEL_PACK_BUFFER_BINDING, 1),
                                  STATE(GL_PIXEL_UNPACK_BUFFER_BINDING, 1),
                                  STATE(GL_READ_BUFFER, 1),
                                  STATE(GL_READ_FRAMEBUFFER_BINDING, 1),
                                  STATE(GL_RENDERBUFFER_BINDING, 1),
                                  STATE(GL_SAMPLE_COVERAGE_INVERT, 1),
                                  STATE(GL_SCISSOR_BOX, 4),
                                  STATE(GL_STENCIL_BACK_FAIL, 1),
                                  STATE(GL_STENCIL_BACK_FUNC, 1),
                                  STATE(GL_STENCIL_BACK_PASS_DEPTH_FAIL, 1),
                                  STATE(GL_STENCIL_BACK_PASS_DEPTH_PASS, 1),
                                  STATE(GL_STENCIL_BACK_REF, 1),
                                  STATE(GL_STENCIL_BACK_VALUE_MASK, 1),
                                  STATE(GL_STENCIL_BACK_WRITEMASK, 1),
                                  STATE(GL_STENCIL_CLEAR_VALUE, 1),
                                  STATE(GL_STENCIL_FAIL, 1),
                                  STATE(GL_STENCIL_FUNC, 1),
                                  STATE(GL_STENCIL_PASS_DEPTH_FAIL, 1),
                                  STATE(GL_STENCIL_PASS_DEPTH_PASS, 1),
                                  STATE(GL_STENCIL_REF, 1),
                                  STATE(GL_STENCIL_VALUE_MASK, 1),
                                  STATE(GL_STENCIL_WRITEMASK, 1),
                                  STATE(GL_TRANSFORM_FEEDBACK_ACTIVE, 1, 40),
                                  STATE(GL_TRANSFORM_FEEDBACK_BINDING, 1, 40),
                                  STATE(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 1),
                                  STATE(GL_TRANSFORM_FEEDBACK_PAUSED, 1, 40),
                                  STATE(GL_UNIFORM_BUFFER_BINDING, 1),
                                  STATE(GL_UNPACK_ALIGNMENT, 1),
                                  STATE(GL_UNPACK_IMAGE_HEIGHT, 1),
                                  STATE(GL_UNPACK_ROW_LENGTH, 1),
                                  STATE(GL_UNPACK_SKIP_IMAGES, 1),
                                  STATE(GL_UNPACK_SKIP_PIXELS, 1),
                                  STATE(GL_UNPACK_SKIP_ROWS, 1),
                                  STATE(GL_VERTEX_ARRAY_BINDING, 1),
                                  STATE(GL_VIEWPORT, 4)};
constexpr StateQuery float_queries[] = {STATE(GL_BLEND_COLOR, 4),          STATE(GL_COLOR_CLEAR_VALUE, 4),
                                        STATE(GL_DEPTH_CLEAR_VALUE, 1),    STATE(GL_DEPTH_RANGE, 2),
                                        STATE(GL_LINE_WIDTH, 1),           STATE(GL_POLYGON_OFFSET_FACTOR, 1),
                                        STATE(GL_POLYGON_OFFSET_UNITS, 1), STATE(GL_SAMPLE_COVERAGE_VALUE, 1)};
constexpr StateQuery unit_queries[] = {STATE(GL_TEXTURE_BINDING_2D, 1), STATE(GL_TEXTURE_BINDING_2D_ARRAY, 1),
                                       STATE(GL_TEXTURE_BINDING_3D, 1), STATE(GL_TEXTURE_BINDING_CUBE_MAP, 1),
                                       STATE(GL_SAMPLER_BINDING, 1)};
constexpr StateQuery attribute_queries[] = {
    STATE(GL_VERTEX_ATTRIB_ARRAY_ENABLED, 1), STATE(GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING, 1),
    STATE(GL_VERTEX_ATTRIB_ARRAY_SIZE, 1),    STATE(GL_VERTEX_ATTRIB_ARRAY_TYPE, 1),
    STATE(GL_VERTEX_ATTRIB_ARRAY_STRIDE, 1),  STATE(GL_VERTEX_ATTRIB_ARRAY_DIVISOR, 1)};
#undef STATE

std::string text_of(const std::vector<GLint>& values) {
  std::string text;
  for (const GLint value : values) text += (text.empty() ? "" : " ") + std::to_string(value);
  return text;
}

}  // namespace

StateSnapshot::StateSnapshot(const Device& device) {
  const GladGLES2Context& gl = device.gl();
  for (const StateQuery& query : queries) {
    if (!device.api().has(30, query.since_desktop)) continue;
    std::vector<GLint> values(4);
    gl.GetIntegerv(query.name, values.data());
    values.resize(static_cast<std::size_t>(query.count));
    add(query.text, std::move(values));
  }
  for (const StateQuery& query : float_queries) {
    GLfloat values[4] = {};
    gl.GetFloatv(query.name, values);
    std::vector<GLint> thousandths;
    for (int i = 0; i < query.count; ++i) thousandths.push_back(static_cast<GLint>(1000 * values[i]));
    add(query.text, std::move(thousandths));
  }
  for (const Capability& capability : capabilities(device))
    add("capability " + std::to_string(capability.name), {gl.IsEnabled(capability.name)});
  for (int i = 1; device.functions().ColorMaski && i < integer(gl, GL_MAX_DRAW_BUFFERS); ++i) {
    const std::string buffer = " of draw buffer " + std::to_string(i);
    std::vector<GLint> mask(4);
    gl.GetIntegeri_v(GL_COLOR_WRITEMASK, static_cast<GLuint>(i), mask.data());
    add("GL_COLOR_WRITEMASK" + buffer, std::move(mask));
    add("GL_BLEND" + buffer, {device.functions().IsEnabledi(GL_BLEND, static_cast<GLuint>(i))});
  }
  if (device.api().has(30, 43))
    add("GL_PRIMITIVE_RESTART_FIXED_INDEX", {gl.IsEnabled(GL_PRIMITIVE_RESTART_FIXED_INDEX)});
  for (auto& [name, values] : all_desktop_state(device)) add(std::move(name), std::move(values));
  for (int i = 0; i < integer(gl, GL_MAX_DRAW_BUFFERS); ++i)
    add("GL_DRAW_BUFFER" + std::to_string(i), {integer(gl, GL_DRAW_BUFFER0 + static_cast<GLenum>(i))});
  add_units(device);
  add_vertex_array(device);
  add_indexed_buffers(device);
}

void StateSnapshot::add_units(const Device& device) {
  const GladGLES2Context& gl = device.gl();
  const GLint active = integer(gl, GL_ACTIVE_TEXTURE);
  for (int unit = 0; unit < std::min(integer(gl, GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS), 32); ++unit) {
    gl.ActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
    for (const StateQuery& query : unit_queries)
      add(query.text + (" of unit " + std::to_string(unit)), {integer(gl, query.name)});
    if (gl.OES_EGL_image_external_essl3)
      add("GL_TEXTURE_BINDING_EXTERNAL_OES of unit " + std::to_string(unit), {integer(gl, external_binding)});
  }
  gl.ActiveTexture(static_cast<GLenum>(active));
}

void StateSnapshot::add_vertex_array(const Device& device) {
  const GladGLES2Context& gl = device.gl();
  if (device.is_desktop() && integer(gl, GL_VERTEX_ARRAY_BINDING) == 0) return;  // core profiles have no array 0
  for (int index = 0; index < integer(gl, GL_MAX_VERTEX_ATTRIBS); ++index)
    for (const StateQuery& query : attribute_queries) {
      GLint value = 0;
      gl.GetVertexAttribiv(static_cast<GLuint>(index), query.name, &value);
      add(query.text + (" of attribute " + std::to_string(index)), {value});
    }
}

void StateSnapshot::add_indexed_buffers(const Device& device) {
  const GladGLES2Context& gl = device.gl();
  const auto add_all = [&](GLenum name, GLenum limit, const std::string& text) {
    for (int index = 0; index < integer(gl, limit); ++index) {
      GLint value = 0;
      gl.GetIntegeri_v(name, static_cast<GLuint>(index), &value);
      add(text + " " + std::to_string(index), {value});
    }
  };
  add_all(GL_UNIFORM_BUFFER_BINDING, GL_MAX_UNIFORM_BUFFER_BINDINGS, "GL_UNIFORM_BUFFER_BINDING");
  add_all(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS,
          "GL_TRANSFORM_FEEDBACK_BUFFER_BINDING");
}

std::string StateSnapshot::difference(const StateSnapshot& later) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(states_.size(), later.states_.size()); ++i) {
    const auto& [name, before] = states_[i];
    const auto& [later_name, after] = later.states_[i];
    if (before != after)
      text += (text.empty() ? "" : "; ") + name + " was " + text_of(before) + ", is " + text_of(after);
  }
  return text;
}

}  // namespace tessera::gles
