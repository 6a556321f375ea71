// A host that has set all of its GL state to something unusual finds it so after every call.
#include <gmock/gmock.h>

#include "support/gles_host.h"

namespace tessera::test::gles_state_test {
namespace {

namespace state = gles::state;

class GlesState : public OnGlesHost {
 protected:
  void SetUp() override {
    OnGlesHost::SetUp();
    if (IsSkipped()) return;
    const std::vector<float> pixels(4 * 5 * 6, 0.25f);
    floats_ = host().texture(GL_RGBA32F, 6, 5, GL_RGBA, GL_FLOAT, pixels.data());
    bytes_ = host().texture(GL_RGBA8, 6, 5, 0, 0, nullptr);
    target_ = host().texture(GL_RGBA8, 6, 5, 0, 0, nullptr);
    target_framebuffer_ = host().framebuffer(host().texture(GL_RGBA8, 6, 5, 0, 0, nullptr));
  }

  GLuint buffer(GLenum target, int bytes = 1024) {
    GLuint name = 0;
    gl().GenBuffers(1, &name);
    gl().BindBuffer(target, name);
    gl().BufferData(target, bytes, nullptr, GL_DYNAMIC_DRAW);
    return name;
  }

  void set_everything() {
    const auto& g = gl();
    for (const GLenum capability :
         {GL_BLEND, GL_CULL_FACE, GL_DEPTH_TEST, GL_POLYGON_OFFSET_FILL, GL_RASTERIZER_DISCARD,
          GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_COVERAGE, GL_SCISSOR_TEST, GL_STENCIL_TEST})
      g.Enable(capability);
    if (!host().is_desktop() || host().version() >= 43) g.Enable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    g.Disable(GL_DITHER);
    g.BlendFuncSeparate(GL_ONE, GL_SRC_ALPHA, GL_DST_COLOR, GL_ZERO);
    g.BlendEquationSeparate(GL_MAX, GL_FUNC_SUBTRACT);
    g.BlendColor(0.1f, 0.2f, 0.3f, 0.4f);
    g.ColorMask(GL_TRUE, GL_FALSE, GL_TRUE, GL_FALSE);
    g.DepthMask(GL_FALSE);
    g.DepthFunc(GL_NEVER);
    g.DepthRangef(0.25f, 0.5f);
    g.StencilFuncSeparate(GL_FRONT, GL_NEVER, 3, 0xf0);
    g.StencilFuncSeparate(GL_BACK, GL_LESS, 5, 0x0f);
    g.StencilOpSeparate(GL_FRONT, GL_INVERT, GL_INCR, GL_DECR);
    g.StencilMask(0x3c);
    g.CullFace(GL_FRONT_AND_BACK);
    g.FrontFace(GL_CW);
    g.PolygonOffset(2, 3);
    g.SampleCoverage(0.0f, GL_FALSE);
    g.LineWidth(1);
    g.Scissor(1, 2, 1, 1);
    g.Viewport(3, 4, 5, 6);
    g.ClearColor(0.5f, 0.25f, 0.125f, 1);
    if (!host().is_desktop()) g.Hint(GL_GENERATE_MIPMAP_HINT, GL_NICEST);

    for (const GLenum target :
         {GL_ARRAY_BUFFER, GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, GL_PIXEL_PACK_BUFFER, GL_PIXEL_UNPACK_BUFFER})
      buffer(target);
    const GLuint uniforms = buffer(GL_UNIFORM_BUFFER);
    for (GLuint index = 0; index < 12; ++index) g.BindBufferBase(GL_UNIFORM_BUFFER, index, uniforms);
    GLuint vertex_array = 0, renderbuffer = 0;
    g.GenVertexArrays(1, &vertex_array);
    g.BindVertexArray(vertex_array);
    buffer(GL_ELEMENT_ARRAY_BUFFER);
    g.EnableVertexAttribArray(2);
    g.VertexAttribPointer(2, 3, GL_FLOAT, GL_FALSE, 20, nullptr);
    g.GenRenderbuffers(1, &renderbuffer);
    g.BindRenderbuffer(GL_RENDERBUFFER, renderbuffer);

    for (const GLenum name : {GL_PACK_ALIGNMENT, GL_UNPACK_ALIGNMENT}) g.PixelStorei(name, 8);
    for (const GLenum name : {GL_PACK_ROW_LENGTH, GL_UNPACK_ROW_LENGTH}) g.PixelStorei(name, 37);
    for (const GLenum name : {GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_ROWS, GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS,
                              GL_UNPACK_SKIP_IMAGES, GL_UNPACK_IMAGE_HEIGHT})
      g.PixelStorei(name, 3);

    GLint units = 0;
    g.GetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &units);
    const std::pair<GLenum, GLenum> kinds[] = {
        {GL_TEXTURE_2D, 0}, {GL_TEXTURE_3D, 0}, {GL_TEXTURE_CUBE_MAP, 0}, {GL_TEXTURE_2D_ARRAY, 0}};
    std::vector<GLuint> textures;
    for (const auto& [target, unused] : kinds) {
      GLuint texture = 0;
      g.GenTextures(1, &texture);
      g.BindTexture(target, texture);
      textures.push_back(texture);
    }
    GLuint sampler = 0;
    g.GenSamplers(1, &sampler);
    g.SamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    g.SamplerParameteri(sampler, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    for (GLuint unit = 0; unit < static_cast<GLuint>(units); ++unit) {
      g.ActiveTexture(GL_TEXTURE0 + unit);
      for (std::size_t i = 0; i < textures.size(); ++i) g.BindTexture(kinds[i].first, textures[i]);
      g.BindSampler(unit, sampler);
    }
    g.ActiveTexture(GL_TEXTURE7);

    GLuint framebuffers[2] = {};
    g.GenFramebuffers(2, framebuffers);
    g.BindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[0]);
    g.ReadBuffer(GL_NONE);
    g.BindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffers[1]);
    const GLenum buffers[] = {GL_NONE, GL_COLOR_ATTACHMENT1};
    g.DrawBuffers(2, buffers);
    const GLuint program = host().program(
        "#version 300 es\nprecision highp float; uniform vec4 a; uniform ivec4 words; uniform int output_width;\n"
        "out vec4 c; void main() { c = a + vec4(words) + float(output_width); }");
    g.UseProgram(program);
    g.Uniform4f(g.GetUniformLocation(program, "a"), 1, 2, 3, 4);
    g.Uniform4i(g.GetUniformLocation(program, "words"), 5, 6, 7, 8);
    g.Uniform1i(g.GetUniformLocation(program, "output_width"), 9);
    host().expect_no_error("unusual state");
  }

  // Each public call that may reach GL.
  struct Call {
    const char* name;
    std::function<void(Context&)> run;
  };
  std::vector<Call> calls() {
    return {
        {"upload", [](Context& c) { c.tensor({7}, std::vector<float>(7, 1)).compute(); }},
        {"upload of bytes", [](Context& c) { c.tensor({7}, std::vector<std::uint8_t>(7, 1)).compute(); }},
        {"compute", [](Context& c) { (c.full({50}, 1) + c.tensor({50}, std::vector<float>(50, 2))).compute(); }},
        {"matmul",
         [](Context& c) {
           matmul(c.full({5, 6}, 1) + 1.0f, c.full({6, 7}, 2) + 1.0f).compute();
         }},
        {"a product in blocks, which are layers of a texture",
         [](Context& c) {
           const Tensor x = c.full({64, 64}, 1).compute();
           EXPECT_EQ(matmul(x, x).read(), std::vector<float>(64 * 64, 64));
         }},
        {"read", [](Context& c) { EXPECT_EQ((c.full({3}, 1) + 1.0f).read(), std::vector<float>(3, 2)); }},
        {"read as halves", [](Context& c) { EXPECT_EQ(c.full({5}, 3, DType::f16).read(), std::vector<float>(5, 3)); }},
        {"read_async", [](Context& c) { EXPECT_EQ(c.full({3}, 1).read_async().get(), std::vector<float>(3, 1)); }},
        {"data_to_gpu",
         [](Context& c) {
           gles::data_to_gpu(c.full({9}, 1), {.custom_tex_shape = gles::TexShape{3, 2}});
         }},
        {"from_texture in place",
         [this](Context& c) {
           const Tensor in = gles::from_texture(c, {.texture = floats_, .width = 6, .height = 5});
           EXPECT_EQ((in * 4.0f).read(), std::vector<float>(120, 1));
         }},
        {"from_texture",
         [this](Context& c) {
           gles::from_texture(c, {.texture = bytes_, .width = 6, .height = 5, .channels = "BG"}).compute();
         }},
        {"to_texture",
         [this](Context& c) {
           gles::to_texture(c.full({5, 6, 3}, 1) * 1.0f, {.texture = target_, .width = 6, .height = 5});
         }},
        {"to_texture into a framebuffer",
         [this](Context& c) {
           gles::to_texture(c.full({5, 6}, 1) * 1.0f, gles::HostFramebuffer{target_framebuffer_, 6, 5});
         }},
        {"a failed call",
         [](Context& c) {
           EXPECT_TESSERA_ERROR(gles::from_texture(c, {.texture = 4711, .width = 6, .height = 5}), invalid_argument);
         }},
        {"a program",
         [](Context& c) {
           Program program = Program::record(c, {{{4}, DType::f32}},
                                             [](std::span<const Tensor> x) { return std::vector{x[0] * 3.0f}; });
           EXPECT_EQ(program.run({c.full({4}, 2)})[0].read(), std::vector<float>(4, 6));
         }},
        {"shader_accessor", [](Context& c) { gles::shader_accessor(c.full({9}, 1), "x"); }},
        {"wait", [](Context& c) { c.wait(); }},
        {"trim", [](Context& c) { c.trim(); }},
        {"memory and stats", [](Context& c) { c.memory(), c.stats(), c.reset_stats(); }},
    };
  }

  GLuint floats_ = 0, bytes_ = 0, target_ = 0, target_framebuffer_ = 0;
};

TEST_P(GlesState, IsAsItWasAfterEveryCall) {
  set_everything();
  const GlState before = state_of(gl());
  for (const Call& call : calls()) {
    call.run(gpu());
    EXPECT_EQ(difference(before, state_of(gl())), "") << call.name;
    host().expect_no_error(call.name);
  }
  {
    Context another = host().adopt();
    EXPECT_EQ(difference(before, state_of(gl())), "") << "adopt_current";
  }
  EXPECT_EQ(difference(before, state_of(gl())), "") << "the end of a context";
}

// The same calls give right results in that state: the target is written through masks, tests and discards.
TEST_P(GlesState, DoesNotChangeResults) {
  set_everything();
  gles::to_texture(gpu().full({5, 6, 4}, 1) * 1.0f, {.texture = target_, .width = 6, .height = 5});
  EXPECT_EQ((gpu().tensor({3}, {1, 2, 3}) + 1.0f).read(), (std::vector<float>{2, 3, 4}));
  gl().Disable(GL_RASTERIZER_DISCARD);
  for (const GLenum target : {GL_PIXEL_PACK_BUFFER, GL_PIXEL_UNPACK_BUFFER}) gl().BindBuffer(target, 0);
  for (const GLenum name : {GL_PACK_ROW_LENGTH, GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_ROWS}) gl().PixelStorei(name, 0);
  EXPECT_THAT(host().pixels<std::uint8_t>(host().framebuffer(target_), 6, 5, GL_RGBA, GL_UNSIGNED_BYTE),
              ::testing::Each(255));
}

TEST_P(GlesState, PausesTransformFeedback) {
  const GLuint program =
      host().program("#version 300 es\nprecision highp float; out vec4 c; void main() { c = vec4(1.0); }",
                     "#version 300 es\nout float v; void main() { v = float(gl_VertexID) + 1.0; }", "v");
  const GLuint captured = buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 64);
  gl().BindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, captured);
  const GLuint framebuffer = host().framebuffer(bytes_);
  gl().BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  gl().UseProgram(program);
  gl().BeginTransformFeedback(GL_POINTS);
  gl().DrawArrays(GL_POINTS, 0, 2);
  const GlState before = state_of(gl());
  EXPECT_EQ((gpu().tensor({3}, {1, 2, 3}) + 1.0f).read(), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(difference(before, state_of(gl())), "");
  gl().DrawArrays(GL_POINTS, 5, 2);
  gl().EndTransformFeedback();
  host().expect_no_error("transform feedback");
  const auto* values =
      static_cast<const float*>(gl().MapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 16, GL_MAP_READ_BIT));
  ASSERT_NE(values, nullptr);
  EXPECT_THAT(std::vector<float>(values, values + 4), ::testing::ElementsAre(1, 2, 6, 7));
  gl().UnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER);
}

// State of each draw buffer of its own, where the context has that.
TEST_P(GlesState, KeepsIndexedState) {
  const int version = host().version();
  const bool has_extension = host().has_extension("GL_OES_draw_buffers_indexed");
  if (version < 31 || (version < 32 && !has_extension)) GTEST_SKIP() << "GL_OES_draw_buffers_indexed is needed";
  const auto named = [&](std::string name) { return version < 32 ? name + "OES" : name; };
  const auto color_mask =
      host().find<void (*)(GLuint, GLboolean, GLboolean, GLboolean, GLboolean)>(named("glColorMaski").c_str());
  const auto enable = host().find<void (*)(GLenum, GLuint)>(named("glEnablei").c_str());
  const auto is_enabled = host().find<GLboolean (*)(GLenum, GLuint)>(named("glIsEnabledi").c_str());
  const auto get = host().find<void (*)(GLenum, GLuint, GLboolean*)>("glGetBooleani_v");
  color_mask(0, GL_TRUE, GL_FALSE, GL_FALSE, GL_TRUE);
  color_mask(1, GL_FALSE, GL_TRUE, GL_FALSE, GL_FALSE);
  enable(GL_BLEND, 1);
  EXPECT_EQ((gpu().tensor({3}, {1, 2, 3}) + 1.0f).read(), (std::vector<float>{2, 3, 4}));
  EXPECT_FALSE(is_enabled(GL_BLEND, 0));
  EXPECT_TRUE(is_enabled(GL_BLEND, 1));
  GLboolean mask[4];
  get(GL_COLOR_WRITEMASK, 0, mask);
  EXPECT_THAT(mask, ::testing::ElementsAre(1, 0, 0, 1));
  get(GL_COLOR_WRITEMASK, 1, mask);
  EXPECT_THAT(mask, ::testing::ElementsAre(0, 1, 0, 0));
}

// Without restoring, the mask names all that was changed, and nothing that was not touched.
TEST_P(GlesState, TellsWhatItDirtied) {
  drop_gpu();
  Context careless = host().adopt({.restore_state = false});
  const Tensor a = careless.tensor({50}, std::vector<float>(50, 2)).compute();
  const Tensor b = careless.tensor({50}, std::vector<float>(50, 3)).compute();
  EXPECT_EQ(gles::dirtied(careless).states, state::active_texture | state::textures | state::pixel_unpack);
  EXPECT_EQ(gles::dirtied(careless), (gles::Dirtied{}));
  careless.stats();
  careless.wait();
  EXPECT_EQ(gles::dirtied(careless), (gles::Dirtied{}));

  const Tensor sum = a * b;
  sum.compute();
  const std::uint32_t drawing = state::active_texture | state::textures | state::samplers | state::program |
                                state::vertex_array | state::draw_framebuffer | state::viewport | state::color_mask;
  EXPECT_EQ(gles::dirtied(careless), (gles::Dirtied{drawing | state::dither, 3}));  // dithering is on at first
  EXPECT_FALSE(gl().IsEnabled(GL_DITHER));
  (a + b + 1.0f).compute();
  EXPECT_EQ(gles::dirtied(careless), (gles::Dirtied{drawing, 3}));

  set_everything();
  const GlState before = state_of(gl());
  EXPECT_EQ((a + 1.0f).read(), std::vector<float>(50, 3));
  const gles::Dirtied all = gles::dirtied(careless);
  EXPECT_EQ(all.states, drawing | state::read_framebuffer | state::pixel_pack | state::blend | state::cull_face |
                            state::depth_test | state::polygon_offset_fill | state::rasterizer_discard |
                            state::sample_alpha_to_coverage | state::sample_coverage | state::scissor_test |
                            state::stencil_test);
  EXPECT_EQ(all.texture_units, 1u);
  // Nothing else differs.
  const std::string changed = difference(before, state_of(gl()));
  for (const char* kept : {"GL_DEPTH_FUNC", "GL_SCISSOR_BOX", "GL_ARRAY_BUFFER", "GL_UNIFORM_BUFFER", "GL_UNPACK",
                           "GL_BLEND_", "GL_STENCIL_FUNC", "GL_TEXTURE_BINDING_2D 1", "GL_SAMPLER_BINDING 1",
                           "GL_TEXTURE_BINDING_3D", "GL_COPY", "GL_RENDERBUFFER"})
    EXPECT_EQ(changed.find(kept), std::string::npos) << changed;
  for (const char* touched : {"GL_CURRENT_PROGRAM", "GL_VIEWPORT", "GL_COLOR_WRITEMASK", "GL_VERTEX_ARRAY_BINDING"})
    EXPECT_NE(changed.find(touched), std::string::npos) << changed;
}

// An error that the host left behind is not tessera's, and is told as the host's.
TEST_P(GlesState, TellsErrorsOfTheHostApart) {
  std::vector<std::string> told;
  Context context = gles::adopt_current(host().loader(),
                                        {.on_message = [&](const Message& message) { told.push_back(message.text); }});
  gl().Enable(0xffff);
  EXPECT_EQ((context.tensor({3}, {1, 2, 3}) + 1.0f).read(), (std::vector<float>{2, 3, 4}));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("0x0500"), std::string::npos) << told[0];
}

TESSERA_ON_GLES_DEVICES(GlesState);

}  // namespace
}  // namespace tessera::test::gles_state_test
