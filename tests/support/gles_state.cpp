#include "support/gles_host.h"

#if TESSERA_HAS_GLES
namespace tessera::test {
namespace {

struct Named {
  const char* text;
  GLenum name;
};
#define NAMED(name) \
  { #name, name }
constexpr Named single[] = {NAMED(GL_ACTIVE_TEXTURE),
                            NAMED(GL_ARRAY_BUFFER_BINDING),
                            NAMED(GL_BLEND_DST_ALPHA),
                            NAMED(GL_BLEND_DST_RGB),
                            NAMED(GL_BLEND_EQUATION_ALPHA),
                            NAMED(GL_BLEND_EQUATION_RGB),
                            NAMED(GL_BLEND_SRC_ALPHA),
                            NAMED(GL_BLEND_SRC_RGB),
                            NAMED(GL_COPY_READ_BUFFER_BINDING),
                            NAMED(GL_COPY_WRITE_BUFFER_BINDING),
                            NAMED(GL_CULL_FACE_MODE),
                            NAMED(GL_CURRENT_PROGRAM),
                            NAMED(GL_DEPTH_FUNC),
                            NAMED(GL_DEPTH_WRITEMASK),
                            NAMED(GL_DRAW_FRAMEBUFFER_BINDING),
                            NAMED(GL_ELEMENT_ARRAY_BUFFER_BINDING),
                            NAMED(GL_FRAGMENT_SHADER_DERIVATIVE_HINT),
                            NAMED(GL_FRONT_FACE),
                            NAMED(GL_GENERATE_MIPMAP_HINT),
                            NAMED(GL_PACK_ALIGNMENT),
                            NAMED(GL_PACK_ROW_LENGTH),
                            NAMED(GL_PACK_SKIP_PIXELS),
                            NAMED(GL_PACK_SKIP_ROWS),
                            NAMED(GL_PIXEL_PACK_BUFFER_BINDING),
                            NAMED(GL_PIXEL_UNPACK_BUFFER_BINDING),
                            NAMED(GL_READ_FRAMEBUFFER_BINDING),
                            NAMED(GL_RENDERBUFFER_BINDING),
                            NAMED(GL_SAMPLE_COVERAGE_INVERT),
                            NAMED(GL_STENCIL_BACK_FAIL),
                            NAMED(GL_STENCIL_BACK_FUNC),
                            NAMED(GL_STENCIL_BACK_PASS_DEPTH_FAIL),
                            NAMED(GL_STENCIL_BACK_PASS_DEPTH_PASS),
                            NAMED(GL_STENCIL_BACK_REF),
                            NAMED(GL_STENCIL_BACK_VALUE_MASK),
                            NAMED(GL_STENCIL_BACK_WRITEMASK),
                            NAMED(GL_STENCIL_FAIL),
                            NAMED(GL_STENCIL_FUNC),
                            NAMED(GL_STENCIL_PASS_DEPTH_FAIL),
                            NAMED(GL_STENCIL_PASS_DEPTH_PASS),
                            NAMED(GL_STENCIL_REF),
                            NAMED(GL_STENCIL_VALUE_MASK),
                            NAMED(GL_STENCIL_WRITEMASK),
                            NAMED(GL_TRANSFORM_FEEDBACK_ACTIVE),
                            NAMED(GL_TRANSFORM_FEEDBACK_BINDING),
                            NAMED(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING),
                            NAMED(GL_TRANSFORM_FEEDBACK_PAUSED),
                            NAMED(GL_UNIFORM_BUFFER_BINDING),
                            NAMED(GL_UNPACK_ALIGNMENT),
                            NAMED(GL_UNPACK_IMAGE_HEIGHT),
                            NAMED(GL_UNPACK_ROW_LENGTH),
                            NAMED(GL_UNPACK_SKIP_IMAGES),
                            NAMED(GL_UNPACK_SKIP_PIXELS),
                            NAMED(GL_UNPACK_SKIP_ROWS),
                            NAMED(GL_VERTEX_ARRAY_BINDING),
                            NAMED(GL_READ_BUFFER),
                            NAMED(GL_DEPTH_CLEAR_VALUE),
                            NAMED(GL_LINE_WIDTH),
                            NAMED(GL_POLYGON_OFFSET_FACTOR),
                            NAMED(GL_POLYGON_OFFSET_UNITS),
                            NAMED(GL_SAMPLE_COVERAGE_VALUE),
                            // Of desktop OpenGL.
                            {"GL_CLAMP_READ_COLOR", 0x891C},
                            {"GL_CLIP_DEPTH_MODE", 0x935D},
                            {"GL_CLIP_ORIGIN", 0x935C},
                            {"GL_DRAW_BUFFER", 0x0C01},
                            {"GL_PACK_SWAP_BYTES", 0x0D00},
                            {"GL_POLYGON_MODE", 0x0B40},
                            {"GL_PRIMITIVE_RESTART_INDEX", 0x8F9E},
                            {"GL_UNPACK_SWAP_BYTES", 0x0CF0},
                            // Of a compatibility profile.
                            {"GL_CLAMP_FRAGMENT_COLOR", 0x891B},
                            {"GL_MAP_COLOR", 0x0D10},
                            {"GL_RED_SCALE", 0x0D14},
                            {"GL_RED_BIAS", 0x0D15},
                            {"GL_ALPHA_SCALE", 0x0D1C},
                            {"GL_ALPHA_BIAS", 0x0D1D}};
constexpr Named fours[] = {NAMED(GL_VIEWPORT), NAMED(GL_SCISSOR_BOX), NAMED(GL_COLOR_WRITEMASK), NAMED(GL_BLEND_COLOR),
                           NAMED(GL_COLOR_CLEAR_VALUE)};
constexpr Named capabilities[] = {NAMED(GL_BLEND),
                                  NAMED(GL_CULL_FACE),
                                  NAMED(GL_DEPTH_TEST),
                                  NAMED(GL_DITHER),
                                  NAMED(GL_POLYGON_OFFSET_FILL),
                                  NAMED(GL_PRIMITIVE_RESTART_FIXED_INDEX),
                                  NAMED(GL_RASTERIZER_DISCARD),
                                  NAMED(GL_SAMPLE_ALPHA_TO_COVERAGE),
                                  NAMED(GL_SAMPLE_COVERAGE),
                                  NAMED(GL_SCISSOR_TEST),
                                  NAMED(GL_STENCIL_TEST),
                                  // Of desktop OpenGL.
                                  {"GL_CLIP_DISTANCE0", 0x3000},
                                  {"GL_CLIP_DISTANCE7", 0x3007},
                                  {"GL_COLOR_LOGIC_OP", 0x0BF2},
                                  {"GL_FRAMEBUFFER_SRGB", 0x8DB9},
                                  {"GL_POLYGON_SMOOTH", 0x0B41},
                                  {"GL_PRIMITIVE_RESTART", 0x8F9D},
                                  {"GL_SAMPLE_ALPHA_TO_ONE", 0x809F},
                                  // Of a compatibility profile.
                                  {"GL_ALPHA_TEST", 0x0BC0},
                                  {"GL_POLYGON_STIPPLE", 0x0B42}};
constexpr Named of_unit[] = {NAMED(GL_TEXTURE_BINDING_2D), NAMED(GL_TEXTURE_BINDING_2D_ARRAY),
                             NAMED(GL_TEXTURE_BINDING_3D), NAMED(GL_TEXTURE_BINDING_CUBE_MAP),
                             NAMED(GL_SAMPLER_BINDING)};
constexpr Named of_attribute[] = {NAMED(GL_VERTEX_ATTRIB_ARRAY_ENABLED), NAMED(GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING),
                                  NAMED(GL_VERTEX_ATTRIB_ARRAY_SIZE), NAMED(GL_VERTEX_ATTRIB_ARRAY_STRIDE)};
#undef NAMED

}  // namespace

GlState state_of(const GladGLES2Context& gl) {
  GlState state;
  const auto get = [&](GLenum name) {
    std::vector<GLfloat> values(4, 0.0f);
    gl.GetFloatv(name, values.data());
    return values;
  };
  // A context that lacks a state says so.
  const auto is_there = [&] { return gl.GetError() == GL_NO_ERROR; };
  EXPECT_TRUE(is_there());
  for (const auto& [text, name] : single)
    if (const GLfloat value = get(name)[0]; is_there()) state[text] = {value};
  for (const auto& [text, name] : fours) {
    const auto values = get(name);
    state[text] = {values.begin(), values.end()};
  }
  GLfloat range[2];
  gl.GetFloatv(GL_DEPTH_RANGE, range);
  state["GL_DEPTH_RANGE"] = {range[0], range[1]};
  for (const auto& [text, name] : capabilities)
    if (const bool is_on = gl.IsEnabled(name); is_there()) state[text] = {double(is_on)};
  for (int i = 0; i < 4; ++i) state["GL_DRAW_BUFFER" + std::to_string(i)] = {get(GL_DRAW_BUFFER0 + GLenum(i))[0]};

  GLint active = 0, units = 0;
  gl.GetIntegerv(GL_ACTIVE_TEXTURE, &active);
  gl.GetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &units);
  for (int unit = 0; unit < units; ++unit) {
    gl.ActiveTexture(GL_TEXTURE0 + GLenum(unit));
    for (const auto& [text, name] : of_unit) state[text + (" " + std::to_string(unit))] = {get(name)[0]};
  }
  gl.ActiveTexture(GLenum(active));
  for (GLuint index = 0; index < 8; ++index)
    for (const auto& [text, name] : of_attribute) {
      GLint value = 0;
      gl.GetVertexAttribiv(index, name, &value);
      state[text + (" " + std::to_string(index))] = {double(value)};
    }
  for (GLuint index = 0; index < 12; ++index) {
    GLint value = 0;
    gl.GetIntegeri_v(GL_UNIFORM_BUFFER_BINDING, index, &value);
    state["GL_UNIFORM_BUFFER_BINDING " + std::to_string(index)] = {double(value)};
  }
  // Uniforms of the program in use.
  GLint program = 0, uniforms = 0;
  gl.GetIntegerv(GL_CURRENT_PROGRAM, &program);
  if (program) gl.GetProgramiv(GLuint(program), GL_ACTIVE_UNIFORMS, &uniforms);
  for (GLuint i = 0; i < GLuint(uniforms); ++i) {
    char name[100];
    GLint size = 0;
    GLenum type = 0;
    gl.GetActiveUniform(GLuint(program), i, sizeof name, nullptr, &size, &type, name);
    GLfloat values[16] = {};
    gl.GetUniformfv(GLuint(program), gl.GetUniformLocation(GLuint(program), name), values);
    state[std::string("uniform ") + name] = {std::begin(values), std::end(values)};
  }
  return state;
}

std::string difference(const GlState& before, const GlState& after) {
  std::string text;
  for (const auto& [name, values] : before)
    if (const auto found = after.find(name); found == after.end()) {
      text += name + " is gone\n";
    } else if (const auto& now = found->second; now != values) {
      text += name + ":";
      for (const double value : values) text += " " + std::to_string(value);
      text += " became";
      for (const double value : now) text += " " + std::to_string(value);
      text += "\n";
    }
  return text;
}

}  // namespace tessera::test
#endif
