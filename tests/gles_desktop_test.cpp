// Hosts of desktop OpenGL: the states that OpenGL ES does not have, and contexts that lack something.
// tests/gles_*_test.cpp run on desktop OpenGL too.
#include <gmock/gmock.h>

#include <algorithm>

#include "support/gles_host.h"
#include <tessera/monitor.h>

namespace tessera::test::gles_desktop_test {
namespace {

namespace state = gles::state;

constexpr GLenum framebuffer_srgb = 0x8DB9;

struct Profile {
  const char* name;
  EGLint mask;
};
constexpr Profile core{"core", EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT};
constexpr Profile compatibility{"compatibility", EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT};
void PrintTo(const Profile& profile, std::ostream* out) { *out << profile.name; }

class DesktopHost : public ::testing::TestWithParam<Profile> {
 protected:
  void SetUp() override {
    if (is_left_out(opengl_device())) GTEST_SKIP() << "this build leaves out the gles backend";
    host_.emplace(opengl_device(), std::vector<EGLint>{EGL_CONTEXT_OPENGL_PROFILE_MASK, GetParam().mask});
    if (host_->handle() == EGL_NO_CONTEXT || host_->version() < 33)
      GTEST_SKIP() << "this driver has no OpenGL 3.3 with a profile of " << GetParam().name;
  }
  void TearDown() override {
    if (host_) host_->expect_no_error("the end of the test");
  }

  GlesHost& host() { return *host_; }
  GladGLES2Context& gl() { return host_->gl; }
  bool is_compatible() const { return GetParam().mask == compatibility.mask; }

 private:
  std::optional<GlesHost> host_;
};

// A texture for expect_right_results(), to be made before the host's state is unusual.
GLuint texture_to_read(GlesHost& host) {
  const std::vector<float> pixels{0.25f, 2, -1, 0.5f, 3, 4, 5, 0.0f};
  return host.texture(GL_RGBA32F, 2, 1, GL_RGBA, GL_FLOAT, pixels.data());
}

// Values that any test, clamp or logical operation would change, on each way in and out.
void expect_right_results(Context& gpu, GlesHost& host, GLuint source) {
  const std::vector<float> values{-3.5f, 0, 0.25f, 1.5f, 1000, -0.125f, 7};
  const Tensor floats = gpu.tensor({7}, values).compute();
  EXPECT_EQ(floats.read(), values);
  EXPECT_EQ((floats * 2.0f).read(), (std::vector<float>{-7, 0, 0.5f, 3, 2000, -0.25f, 14}));
  const Tensor bytes = gpu.tensor({5}, std::vector<std::uint8_t>{1, 2, 3, 200, 255});
  EXPECT_EQ((bytes.cast(DType::i32) + 1.0f).read<std::int32_t>(), (std::vector<std::int32_t>{2, 3, 4, 201, 256}));
  EXPECT_EQ(maximum(bytes, bytes).read<std::uint8_t>(), (std::vector<std::uint8_t>{1, 2, 3, 200, 255}));
  EXPECT_EQ(floats.cast(DType::f16).read(), values);

  const GLuint target = host.texture(GL_RGBA32F, 2, 1, GL_RGBA, GL_FLOAT, nullptr);
  gles::to_texture(gles::from_texture(gpu, {.texture = source, .width = 2, .height = 1}) + 1.0f,
                   {.texture = target, .width = 2, .height = 1});
  EXPECT_EQ(gles::from_texture(gpu, {.texture = target, .width = 2, .height = 1}).read(),
            (std::vector<float>{1.25f, 3, 0, 1.5f, 4, 5, 6, 1}));
  host.gl.DeleteTextures(1, &target);
}

struct HostileState {
  const char* name;
  std::function<void(GlesHost&)> set;
  std::uint32_t dirtied = 0;  // of it, where nothing is put back
  bool is_old = false;        // needs a compatibility profile
  int since = 33;
};

void PrintTo(const HostileState& state, std::ostream* out) { *out << state.name; }

template <class... Arguments>
auto call(const char* name, Arguments... arguments) {
  return [=](GlesHost& host) { host.find<void (*)(Arguments...)>(name)(arguments...); };
}
auto enable(GLenum capability) {
  return [=](GlesHost& host) { host.gl.Enable(capability); };
}

const std::vector<HostileState>& hostile_states() {
  constexpr GLenum color_logic_op = 0x0BF2, primitive_restart = 0x8F9D, clip_distance_0 = 0x3000;
  static const std::vector<HostileState> states{
      {"lines", call("glPolygonMode", GLenum{GL_FRONT_AND_BACK}, GLenum{0x1B01}), state::polygon_mode},
      {"points", call("glPolygonMode", GLenum{GL_FRONT_AND_BACK}, GLenum{0x1B00}), state::polygon_mode},
      {"logical operation",
       [=](GlesHost& host) {
         host.gl.Enable(color_logic_op);
         host.find<void (*)(GLenum)>("glLogicOp")(0x1500);  // GL_CLEAR
       },
       state::color_logic_op},
      {"restart",
       [=](GlesHost& host) {
         host.gl.Enable(primitive_restart);
         host.find<void (*)(GLuint)>("glPrimitiveRestartIndex")(1);
       },
       state::primitive_restart},
      {"clip distances",
       [=](GlesHost& host) {
         for (GLenum i = 0; i < 8; ++i) host.gl.Enable(clip_distance_0 + i);
       },
       state::clip_distances},
      {"clip control", call("glClipControl", GLenum{0x8CA2}, GLenum{0x935F}), 0, false, 45},  // upper left, zero to one
      {"smooth polygons", enable(0x0B41), state::polygon_smooth},
      {"alpha to one", enable(0x809F), state::sample_alpha_to_one},
      {"sRGB", enable(framebuffer_srgb)},
      {"no multisampling", [](GlesHost& host) { host.gl.Disable(0x809D); }},
      {"depth clamp", enable(0x864F)},
      {"swapped bytes",
       [](GlesHost& host) {
         host.gl.PixelStorei(0x0CF0, 1);
         host.gl.PixelStorei(0x0D00, 1);
       },
       state::pixel_unpack | state::pixel_pack},
      {"clamped reading", call("glClampColor", GLenum{0x891C}, GLenum{GL_TRUE}), state::pixel_pack},
      {"no vertex array", [](GlesHost& host) { host.gl.BindVertexArray(0); }, state::vertex_array},
      {"viewports and scissors",
       [](GlesHost& host) {
         const auto viewport = host.find<void (*)(GLuint, float, float, float, float)>("glViewportIndexedf");
         for (GLuint i = 0; i < 4; ++i) viewport(i, 0.5f, 1, 2, static_cast<float>(i + 3));
         host.find<void (*)(GLenum, GLuint)>("glEnablei")(GL_SCISSOR_TEST, 0);
         host.find<void (*)(GLenum, GLuint)>("glEnablei")(GL_SCISSOR_TEST, 2);
       },
       state::viewport | state::scissor_test, false, 41},
      {"alpha test",
       [](GlesHost& host) {
         host.gl.Enable(0x0BC0);
         host.find<void (*)(GLenum, float)>("glAlphaFunc")(GL_NEVER, 0.5f);
       },
       state::compatibility, true},
      {"stipple",
       [](GlesHost& host) {
         const std::vector<GLubyte> nothing(128, 0);
         host.gl.Enable(0x0B42);
         host.find<void (*)(const GLubyte*)>("glPolygonStipple")(nothing.data());
       },
       state::compatibility, true},
      {"clamped fragments", call("glClampColor", GLenum{0x891B}, GLenum{GL_TRUE}), state::compatibility, true},
      {"pixel transfer",
       [](GlesHost& host) {
         const auto set = host.find<void (*)(GLenum, float)>("glPixelTransferf");
         for (const GLenum scale : {0x0D14u, 0x0D18u, 0x0D1Au, 0x0D1Cu}) set(scale, 0.5f);
         for (const GLenum bias : {0x0D15u, 0x0D19u, 0x0D1Bu, 0x0D1Du}) set(bias, 0.25f);
       },
       state::compatibility, true},
      {"two polygon modes",
       [](GlesHost& host) {
         const auto set = host.find<void (*)(GLenum, GLenum)>("glPolygonMode");
         set(GL_FRONT, 0x1B01);
         set(GL_BACK, 0x1B00);
       },
       state::polygon_mode, true},
  };
  return states;
}

// What state_of() does not ask for.
std::vector<float> more_state_of(GlesHost& host) {
  std::vector<float> values(2);
  host.gl.GetFloatv(0x0B40, values.data());  // GL_POLYGON_MODE
  if (host.version() < 41) return values;
  for (GLuint i = 0; i < 4; ++i) {
    std::vector<float> viewport(4);
    host.find<void (*)(GLenum, GLuint, float*)>("glGetFloati_v")(GL_VIEWPORT, i, viewport.data());
    values.insert(values.end(), viewport.begin(), viewport.end());
    values.push_back(host.find<GLboolean (*)(GLenum, GLuint)>("glIsEnabledi")(GL_SCISSOR_TEST, i));
  }
  return values;
}

class HostileStates : public ::testing::TestWithParam<std::tuple<Profile, HostileState>> {};

TEST_P(HostileStates, ChangeNothingAndStay) {
  const auto& [profile, hostile] = GetParam();
  if (is_left_out(opengl_device())) GTEST_SKIP() << "this build leaves out the gles backend";
  GlesHost host(opengl_device(), {EGL_CONTEXT_OPENGL_PROFILE_MASK, profile.mask});
  if (hostile.since > host.version()) GTEST_SKIP() << "this context has no such state";
  Context gpu = host.adopt();
  const GLuint source = texture_to_read(host);
  hostile.set(host);
  host.expect_no_error("setting the state");
  const GlState before = state_of(host.gl);
  const std::vector<float> more_before = more_state_of(host);
  expect_right_results(gpu, host, source);
  EXPECT_EQ(difference(before, state_of(host.gl)), "");
  EXPECT_EQ(more_state_of(host), more_before);
  host.expect_no_error("the end of the test");
}

TEST_P(DesktopHost, TellsWhichStatesItDirtied) {
  constexpr std::uint32_t of_desktop = state::polygon_mode | state::clip_distances | state::compatibility |
                                       state::color_logic_op | state::polygon_smooth | state::primitive_restart |
                                       state::sample_alpha_to_one | state::scissor_test;
  Context careless = host().adopt({.restore_state = false});
  const Tensor x = careless.full({5}, 2).compute();
  for (const HostileState& hostile : hostile_states()) {
    if (hostile.since > host().version() || (hostile.is_old && !is_compatible())) continue;
    (x + 1.0f).read();
    gles::dirtied(careless);
    hostile.set(host());
    EXPECT_EQ((x + 1.0f).read(), std::vector<float>(5, 3)) << hostile.name;
    const std::uint32_t dirtied = gles::dirtied(careless).states;
    EXPECT_EQ(dirtied & of_desktop, hostile.dirtied & of_desktop) << hostile.name;
    EXPECT_EQ(dirtied & hostile.dirtied & ~state::pixel_unpack, hostile.dirtied & ~state::pixel_unpack) << hostile.name;
  }
}

// OpenGL tells nobody what a rendering depends on, so that it could not be put back.
TEST_P(DesktopHost, RefusesToWorkWhileTheHostRendersConditionally) {
  constexpr GLenum samples_passed = 0x8914, wait = 0x8E13;
  const GLuint target = host().texture(GL_RGBA32F, 1, 1, GL_RGBA, GL_FLOAT, nullptr);
  Context gpu = host().adopt();
  const Tensor x = gpu.tensor({3}, {1, 2, 3}).compute(), sum = x + 1.0f;
  GLuint query = 0;
  gl().GenQueries(1, &query);
  gl().BindFramebuffer(GL_FRAMEBUFFER, host().framebuffer(target));
  gl().BeginQuery(samples_passed, query);  // nothing is drawn
  gl().EndQuery(samples_passed);
  host().find<void (*)(GLuint, GLenum)>("glBeginConditionalRender")(query, wait);
  EXPECT_TESSERA_ERROR(sum.compute(), unsupported, "glBeginConditionalRender");
  EXPECT_TESSERA_ERROR(gles::to_texture(gpu.full({1, 1}, 1) + 1.0f, {.texture = target, .width = 1, .height = 1}),
                       unsupported, "conditionally");
  EXPECT_EQ(x.read(), (std::vector<float>{1, 2, 3}));
  host().find<void (*)()>("glEndConditionalRender")();  // an error where it was no longer under way
  host().expect_no_error("the end of conditional rendering");
  EXPECT_EQ(sum.read(), (std::vector<float>{2, 3, 4}));
}

// A query of the host's may be under way, and does not stop anything.
TEST_P(DesktopHost, WorksWithinAQuery) {
  constexpr GLenum samples_passed = 0x8914;
  GLuint query = 0;
  gl().GenQueries(1, &query);
  gl().BeginQuery(samples_passed, query);
  Context gpu = host().adopt();
  expect_right_results(gpu, host(), texture_to_read(host()));
  gl().EndQuery(samples_passed);
  expect_right_results(gpu, host(), texture_to_read(host()));
}

// As on OpenGL ES, textures of sRGB have linear values on both ways; framebuffers are the host's own affair.
TEST_P(DesktopHost, TexturesOfSrgbAreEncoded) {
  Context gpu = host().adopt();
  const Tensor half = gpu.full({1, 1, 4}, 0.5f) + 0.0f;
  const GLuint texture = host().texture(GL_SRGB8_ALPHA8, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  const GLuint framebuffer = host().framebuffer(texture);
  const auto red = [&] {  // without decoding, since reading into bytes is the host's too
    return gles::from_texture(gpu, {.texture = texture, .width = 1, .height = 1, .channels = "R"}).read()[0];
  };
  for (const bool is_on : {false, true}) {
    (is_on ? gl().Enable : gl().Disable)(framebuffer_srgb);
    gles::to_texture(half, {.texture = texture, .width = 1, .height = 1});
    EXPECT_NEAR(red(), 0.5f, 0.01f);
    EXPECT_EQ(gl().IsEnabled(framebuffer_srgb), is_on);
    gles::to_texture(half, gles::HostFramebuffer{framebuffer, 1, 1});
    EXPECT_NEAR(red(), is_on ? 0.5f : 0.214f, 0.01f);  // stored as 0.5, which decodes to 0.214
    EXPECT_EQ(gl().IsEnabled(framebuffer_srgb), is_on);
  }
}

// Alpha is a number like others, also where it would be one, or would choose among samples.
TEST_P(DesktopHost, AlphaStaysInMultisampledFramebuffers) {
  constexpr GLenum alpha_to_one = 0x809F;
  GLuint renderbuffer = 0, framebuffer = 0;
  gl().GenRenderbuffers(1, &renderbuffer);
  gl().BindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
  gl().RenderbufferStorageMultisample(GL_RENDERBUFFER, 4, GL_RGBA8, 2, 1);
  gl().GenFramebuffers(1, &framebuffer);
  gl().BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  gl().FramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
  gl().Enable(alpha_to_one);
  gl().Enable(GL_SAMPLE_ALPHA_TO_COVERAGE);
  Context gpu = host().adopt();
  gles::to_texture(gpu.full({1, 2, 4}, 0.2f) + 0.0f, gles::HostFramebuffer{framebuffer, 2, 1});
  const GLuint resolved = host().framebuffer(host().texture(GL_RGBA8, 2, 1, GL_RGBA, GL_UNSIGNED_BYTE, nullptr));
  gl().BindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
  gl().BindFramebuffer(GL_DRAW_FRAMEBUFFER, resolved);
  gl().BlitFramebuffer(0, 0, 2, 1, 0, 0, 2, 1, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  EXPECT_THAT(host().pixels<std::uint8_t>(resolved, 2, 1, GL_RGBA, GL_UNSIGNED_BYTE), ::testing::Each(51));
}

// OpenGL 3.3 and 4.1 have no glTexStorage2D unless by an extension. A buffer of pixels that is bound is not read.
TEST_P(DesktopHost, NeedsNoTextureStorage) {
  Context gpu = gles::adopt_current(
      [&](const char* name) { return std::string_view(name) == "glTexStorage2D" ? nullptr : host().loader()(name); },
      {}, {.check_state = true});
  GLuint buffer = 0;
  gl().GenBuffers(1, &buffer);
  gl().BindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
  gl().BufferData(GL_PIXEL_UNPACK_BUFFER, 4, nullptr, GL_STATIC_DRAW);
  EXPECT_EQ((gpu.full({200}, 2) * 2.0f).read(), std::vector<float>(200, 4));
  EXPECT_EQ((gpu.full({9}, 2).cast(DType::f16) * 2.0f).read(), std::vector<float>(9, 4));
  EXPECT_EQ(gpu.full({9}, 2).cast(DType::u8).read<std::uint8_t>(), std::vector<std::uint8_t>(9, 2));
  GLint bound = 0;
  gl().GetIntegerv(GL_PIXEL_UNPACK_BUFFER_BINDING, &bound);
  EXPECT_EQ(static_cast<GLuint>(bound), buffer);
  gl().BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  expect_right_results(gpu, host(), texture_to_read(host()));
}

TEST_P(DesktopHost, OlderVersionsAreRefused) {
  static PFNGLGETINTEGERVPROC real;
  real = gl().GetIntegerv;
  const PFNGLGETINTEGERVPROC as_3_2 = [](GLenum name, GLint* value) {
    real(name, value);
    if (name == GL_MAJOR_VERSION) *value = 3;
    if (name == GL_MINOR_VERSION) *value = 2;
  };
  const auto find = [&](const char* name) {
    return std::string_view(name) == "glGetIntegerv" ? reinterpret_cast<void*>(as_3_2) : host().loader()(name);
  };
  EXPECT_TESSERA_ERROR(gles::adopt_current(find), unsupported, "adopt_current", "it has OpenGL", "or OpenGL 3.3");
}

TEST_P(DesktopHost, TellsItsKindAndTimesKernels) {
  Context gpu = host().adopt();
  EXPECT_THAT(gpu.device().driver, ::testing::HasSubstr("OpenGL " + std::to_string(host().version() / 10) + "."));
  EXPECT_THAT(gpu.device().driver, ::testing::Not(::testing::HasSubstr("OpenGL ES")));
  EXPECT_EQ(gpu.backend(), BackendKind::gles);
  EXPECT_THAT(gles::shader_accessor(gpu.full({2, 2}, 1), "t"), ::testing::Not(::testing::HasSubstr("highp")));
  Monitor monitor(gpu);
  (gpu.full({64, 64}, 1) + 1.0f).compute();
  EXPECT_FALSE(monitor.report({.wait = true}).kernels.empty());
  // Without a loader too.
  Context again = gles::adopt_current();
  EXPECT_EQ(gles::host_context(again).context, host().handle());
  expect_right_results(again, host(), texture_to_read(host()));
}

std::vector<HostileState> states_of(const Profile& profile) {
  std::vector<HostileState> states;
  for (const HostileState& hostile : hostile_states())
    if (!hostile.is_old || profile.mask == compatibility.mask) states.push_back(hostile);
  return states;
}
const auto name_of_state = [](const auto& info) {
  std::string name = std::get<HostileState>(info.param).name;
  std::ranges::replace(name, ' ', '_');
  return name;
};
INSTANTIATE_TEST_SUITE_P(InACoreProfile, HostileStates,
                         ::testing::Combine(::testing::Values(core), ::testing::ValuesIn(states_of(core))),
                         name_of_state);
INSTANTIATE_TEST_SUITE_P(InACompatibilityProfile, HostileStates,
                         ::testing::Combine(::testing::Values(compatibility),
                                            ::testing::ValuesIn(states_of(compatibility))),
                         name_of_state);
INSTANTIATE_TEST_SUITE_P(With, DesktopHost, ::testing::Values(core, compatibility),
                         [](const auto& profile) { return profile.param.name; });

}  // namespace
}  // namespace tessera::test::gles_desktop_test
