// gles::adopt_current: threads, other contexts, several guests, what is missing.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "support/gles_host.h"

namespace tessera::test::gles_adopt_test {
namespace {

class GlesAdopt : public OnGlesHost {};

std::vector<float> computed(Context& context) { return (context.tensor({3}, {1, 2, 3}) * 2.0f).read(); }
const std::vector<float> expected{2, 4, 6};

TEST_P(GlesAdopt, DescribesTheHostsDevice) {
  const DeviceInfo &own = shared_context(GetParam()).device(), &adopted = gpu().device();
  EXPECT_EQ(gpu().backend(), BackendKind::gles);
  EXPECT_EQ(adopted.name.substr(0, 40), own.name.substr(0, 40));  // ANGLE hides its version from browsers
  EXPECT_EQ(adopted.is_software, own.is_software);
  EXPECT_EQ(adopted.driver.substr(0, 8), own.driver.substr(0, 8));
  const gles::HostContext its = gles::host_context(gpu());
  EXPECT_EQ(its.context, host().handle());
  EXPECT_EQ(its.display, host().display());
}

TEST_P(GlesAdopt, WorksOnlyWhereTheContextIsCurrent) {
  const Tensor tensor = gpu().tensor({3}, {1, 2, 3}) * 2.0f;
  std::thread([&] {
    EXPECT_TESSERA_ERROR(tensor.compute(), wrong_thread, "not current on this thread", "no context");
    EXPECT_TESSERA_ERROR(tensor.read(), wrong_thread);
    EXPECT_TESSERA_ERROR(gles::data_to_gpu(tensor), wrong_thread);
    EXPECT_TESSERA_ERROR(gles::from_texture(gpu(), {.texture = 1, .width = 1, .height = 1}), wrong_thread);
    EXPECT_TESSERA_ERROR(gpu().wait(), wrong_thread);
  }).join();
  {
    const GlesHost other(GetParam());
    EXPECT_TESSERA_ERROR(tensor.compute(), wrong_thread, "another context");
  }
  EXPECT_TESSERA_ERROR(tensor.compute(), wrong_thread, "no context");
  host().make_current();
  EXPECT_EQ(tensor.read(), expected);
}

// A host may take its context to another thread.
TEST_P(GlesAdopt, MovesWithTheContext) {
  host().release();
  std::thread([&] {
    host().make_current();
    EXPECT_EQ(computed(gpu()), expected);
    host().release();
  }).join();
  host().make_current();
  EXPECT_EQ(computed(gpu()), expected);
}

// Without EGL, all that is known is the thread.
TEST_P(GlesAdopt, StaysOnItsThreadWithoutEgl) {
  Context context = gles::adopt_current(
      [&](const char* name) { return std::string_view(name).starts_with("egl") ? nullptr : host().loader()(name); });
  EXPECT_EQ(computed(context), expected);
  EXPECT_EQ(gles::host_context(context).context, nullptr);
  std::thread([&] { EXPECT_TESSERA_ERROR(computed(context), wrong_thread, "another thread"); }).join();
}

TEST_P(GlesAdopt, FreesLaterWhatIsLetGoElsewhere) {
  std::vector<GLuint> textures;
  {
    std::vector<Tensor> tensors;
    for (int i = 0; i < 5; ++i) {
      gles::GpuData data = gles::data_to_gpu(gpu().full({10 + 100 * i}, 1) + 1.0f);
      textures.push_back(data.texture);
      tensors.push_back(std::move(data.tensor_ref));
    }
    std::thread([&] {
      tensors.clear();
      gpu().trim();  // gives back what cannot be given back here
    }).join();
  }
  for (const GLuint texture : textures) EXPECT_TRUE(gl().IsTexture(texture));
  gpu().wait();  // any call that enters
  for (const GLuint texture : textures) EXPECT_FALSE(gl().IsTexture(texture));
  EXPECT_EQ(computed(gpu()), expected);
}

TEST_P(GlesAdopt, SeveralGuestsShareAHost) {
  Context second = host().adopt(), third = host().adopt();
  for (int i = 0; i < 3; ++i)
    for (Context* context : {&gpu(), &second, &third}) EXPECT_EQ(computed(*context), expected);
  // One reads what another has made.
  const gles::GpuData data = gles::data_to_gpu(second.tensor({1, 2, 4}, std::vector<float>(8, 5)) * 2.0f,
                                               {.custom_tex_shape = gles::TexShape{1, 2}});
  EXPECT_EQ(gles::from_texture(third, {.texture = data.texture, .width = 2, .height = 1}).read(),
            std::vector<float>(8, 10));
}

// What the host made is there when tessera is gone, and nothing of tessera's is.
TEST_P(GlesAdopt, LeavesNothingBehind) {
  drop_gpu();
  const auto names = [&] {
    GLuint texture = 0, buffer = 0, framebuffer = 0, array = 0, sampler = 0;
    gl().GenTextures(1, &texture);
    gl().GenBuffers(1, &buffer);
    gl().GenFramebuffers(1, &framebuffer);
    gl().GenVertexArrays(1, &array);
    gl().GenSamplers(1, &sampler);
    const GLuint program = gl().CreateProgram();
    gl().DeleteTextures(1, &texture);
    gl().DeleteBuffers(1, &buffer);
    gl().DeleteFramebuffers(1, &framebuffer);
    gl().DeleteVertexArrays(1, &array);
    gl().DeleteSamplers(1, &sampler);
    gl().DeleteProgram(program);
    return std::vector<GLuint>{texture, buffer, framebuffer, array, sampler, program};
  };
  const GLuint mine = host().texture(GL_RGBA32F, 2, 2, 0, 0, nullptr);
  const auto before = names();
  for (int i = 0; i < 5; ++i) {
    Context context = host().adopt();
    EXPECT_EQ(computed(context), expected);
    EXPECT_EQ(gles::from_texture(context, {.texture = mine, .width = 2, .height = 2}).read().size(), 16u);
  }
  EXPECT_TRUE(gl().IsTexture(mine));
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_LE(names()[i], before[i] + 1) << i;
}

TEST_P(GlesAdopt, TellsWhatIsMissing) {
  host().release();
  EXPECT_TESSERA_ERROR(gles::adopt_current(host().loader()), unsupported, "adopt_current", "no context of OpenGL");
  {
    const auto find = [&](const char* name) { return host().loader()(name); };
    const EGLint config_attributes[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_SURFACE_TYPE, EGL_DONT_CARE,
                                        EGL_NONE};
    EGLConfig config = nullptr;
    EGLint configs = 0;
    reinterpret_cast<PFNEGLCHOOSECONFIGPROC>(find("eglChooseConfig"))(host().display(), config_attributes, &config, 1,
                                                                      &configs);
    const bool is_angle = std::string(GetParam().name).find("angle") != std::string::npos;
    // ANGLE can be told to give just what is asked for; Mesa gives its newest, and says so.
    const EGLint exactly_es2[] = {EGL_CONTEXT_MAJOR_VERSION, 2, 0x3483, EGL_FALSE, EGL_NONE};
    if (is_angle) {
      const EGLContext es2 = reinterpret_cast<PFNEGLCREATECONTEXTPROC>(find("eglCreateContext"))(
          host().display(), config, EGL_NO_CONTEXT, exactly_es2);
      ASSERT_NE(es2, EGL_NO_CONTEXT);
      const auto make_current = reinterpret_cast<PFNEGLMAKECURRENTPROC>(find("eglMakeCurrent"));
      make_current(host().display(), EGL_NO_SURFACE, EGL_NO_SURFACE, es2);
      EXPECT_TESSERA_ERROR(gles::adopt_current(host().loader()), unsupported, "OpenGL ES 2.0", "3.0 is needed");
      host().release();
      reinterpret_cast<PFNEGLDESTROYCONTEXTPROC>(find("eglDestroyContext"))(host().display(), es2);

      const GlesHost bare(GetParam(), {0x33AC, EGL_TRUE, 0x345F, EGL_FALSE});  // as in a browser: no extensions
      EXPECT_TESSERA_ERROR(gles::adopt_current(bare.loader()), unsupported, "GL_EXT_color_buffer_float");
    }
  }
  host().make_current();
  EXPECT_EQ(computed(gpu()), expected);
}

// The system's EGL is found without help.
TEST_P(GlesAdopt, FindsTheCurrentContextByItself) {
  if (std::string(GetParam().name).find("angle") != std::string::npos) {
    host().release();
    EXPECT_TESSERA_ERROR(gles::adopt_current(), invalid_argument, "adopt_current", "current on this thread");
    return;
  }
  Context context = gles::adopt_current();
  EXPECT_EQ(computed(context), expected);
  EXPECT_EQ(gles::host_context(context).context, host().handle());
}

// A host makes a context that shares textures with tessera's own.
TEST_P(GlesAdopt, SharesWithOwnContexts) {
  Context& own = shared_context(GetParam());
  const gles::GpuData data = gles::data_to_gpu(own.tensor({1, 2, 4}, std::vector<float>(8, 5)) * 2.0f,
                                               {.custom_tex_shape = gles::TexShape{1, 2}});
  own.wait();  // another context sees what is finished
  host().release();
  {
    GlesHost sharing(gles::make_sharing_context(own));
    EXPECT_NE(sharing.handle(), gles::host_context(own).context);
    EXPECT_EQ(sharing.display(), gles::host_context(own).display);
    EXPECT_EQ(sharing.pixels<float>(sharing.framebuffer(data.texture), 2, 1, GL_RGBA, GL_FLOAT),
              std::vector<float>(8, 10));
    const std::vector<float> values{1, 2, 3, 4};
    const GLuint texture = sharing.texture(GL_RGBA32F, 1, 1, GL_RGBA, GL_FLOAT, values.data());
    sharing.gl.Finish();
    EXPECT_EQ((gles::from_texture(own, {.texture = texture, .width = 1, .height = 1}) * 1.0f).read(), values);
    sharing.gl.DeleteTextures(1, &texture);
  }
  EXPECT_TESSERA_ERROR(gles::make_sharing_context(gpu()), unsupported, "make_sharing_context", "the host's own");
  host().make_current();
}

// Functions of either spelling, callables that hold something, and nothing.
TEST_P(GlesAdopt, TakesLoadersOfEveryKind) {
  static gles::Loader real = nullptr;
  real = host().loader();
  using Function = void (*)();
  Function (*const as_glfw)(const char*) = [](const char* name) { return reinterpret_cast<Function>(real(name)); };
  Function (*const as_glx)(const unsigned char*) = [](const unsigned char* name) {
    return reinterpret_cast<Function>(real(reinterpret_cast<const char*>(name)));
  };
  void* (*const as_egl)(const char*) = [](const char* name) { return real(name); };
  int calls = 0;
  const auto with_state = [&calls, find = real](const char* name) {
    ++calls;
    return find(name);
  };
  for (const gles::Loader& loader : {gles::Loader(as_glfw), gles::Loader(as_glx), gles::Loader(as_egl),
                                     gles::Loader(with_state), gles::Loader(std::function(with_state))}) {
    EXPECT_TRUE(loader);
    Context context = gles::adopt_current(loader);
    EXPECT_EQ(computed(context), expected);
    EXPECT_EQ(gles::host_context(context).get_proc_address("glFlush"), real("glFlush"));
  }
  EXPECT_GT(calls, 100);
  EXPECT_FALSE(gles::Loader(nullptr));
  EXPECT_FALSE(gles::Loader(static_cast<Function (*)(const char*)>(nullptr)));
  EXPECT_FALSE(gles::Loader(static_cast<Function (*)(const unsigned char*)>(nullptr)));
  EXPECT_FALSE(gles::Loader(std::function<void*(const char*)>()));
}

// Some drivers repeat an error for ever once the context is lost.
TEST_P(GlesAdopt, ErrorsThatNeverEndDoNotHang) {
  static PFNGLGETERRORPROC real_get_error;
  static GLenum repeated;
  real_get_error = host().find<PFNGLGETERRORPROC>("glGetError");
  PFNGLGETERRORPROC const get_error = []() -> GLenum { return repeated ? repeated : real_get_error(); };
  const auto find = [&](const char* name) -> void* {
    if (std::string_view(name) == "glGetError") return reinterpret_cast<void*>(get_error);
    // Without it, the format of a texture comes from a framebuffer.
    if (std::string_view(name).starts_with("glGetTexLevelParameter")) return nullptr;
    return host().loader()(name);
  };
  const GLuint texture = host().texture(GL_RGBA8, 2, 2, 0, 0, nullptr);
  GLuint empty = 0;
  gl().GenFramebuffers(1, &empty);
  gl().BindFramebuffer(GL_FRAMEBUFFER, empty);  // it exists from now on, with nothing to draw to
  gl().BindFramebuffer(GL_FRAMEBUFFER, 0);
  constexpr GLenum context_lost = 0x507;
  for (const GLenum error : {GLenum{GL_INVALID_OPERATION}, GLenum{GL_OUT_OF_MEMORY}, context_lost}) {
    repeated = GL_NO_ERROR;
    Context context = gles::adopt_current(find);
    const Tensor image = (context.full({2, 2, 4}, 1) + 0.0f).compute(), pending = image * 2.0f;
    // Compiles the kernel, which comes before anything is drawn: a compiler whose errors never end would fail first.
    gles::to_texture(image, {.texture = texture, .width = 2, .height = 2});
    const ErrorCode code = error == context_lost ? ErrorCode::device_lost : ErrorCode::invalid_argument;
    const auto expect = [&](const std::function<void()>& call, ErrorCode wanted) {
      repeated = error;
      try {
        call();
        ADD_FAILURE() << "no error";
      } catch (const Error& thrown) {
        EXPECT_EQ(to_string(thrown.code()), to_string(wanted)) << thrown.what();
      }
      repeated = GL_NO_ERROR;
    };
    expect([&] { gles::to_texture(image, gles::HostFramebuffer{empty, 2, 2}); }, code);
    expect([&] { gles::from_texture(context, {.texture = texture, .width = 2, .height = 2}); }, code);
    expect([&] { pending.compute(); }, error == GL_OUT_OF_MEMORY       ? ErrorCode::out_of_memory
                                       : error == GL_INVALID_OPERATION ? ErrorCode::unsupported
                                                                       : ErrorCode::device_lost);
    if (error != context_lost) {
      EXPECT_EQ(pending.read(), std::vector<float>(16, 2));
    }
  }
}

TESSERA_ON_GLES_DEVICES(GlesAdopt);

// A host that has shut EGL down and unloaded it before it lets go of the rest. In a process of its own, where nothing
// else keeps the library loaded.
void let_go_after_egl(const char* path, EGLenum platform, bool releases_context) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) std::_Exit(77);
  {
    const auto get = reinterpret_cast<PFNEGLGETPROCADDRESSPROC>(dlsym(library, "eglGetProcAddress"));
    const auto find = [&]<class Function>(Function& function, const char* name) {
      function = reinterpret_cast<Function>(get(name));
    };
    PFNEGLGETPLATFORMDISPLAYEXTPROC get_display;
    PFNEGLINITIALIZEPROC initialise;
    PFNEGLCHOOSECONFIGPROC choose;
    PFNEGLBINDAPIPROC bind;
    PFNEGLCREATECONTEXTPROC create;
    PFNEGLMAKECURRENTPROC make_current;
    PFNEGLDESTROYCONTEXTPROC destroy;
    PFNEGLTERMINATEPROC terminate;
    find(get_display, "eglGetPlatformDisplayEXT");
    find(initialise, "eglInitialize");
    find(choose, "eglChooseConfig");
    find(bind, "eglBindAPI");
    find(create, "eglCreateContext");
    find(make_current, "eglMakeCurrent");
    find(destroy, "eglDestroyContext");
    find(terminate, "eglTerminate");
    const EGLDisplay display = get_display(platform, EGL_DEFAULT_DISPLAY, nullptr);
    if (!initialise(display, nullptr, nullptr)) std::_Exit(77);
    const EGLint wishes[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_NONE};
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint configs = 0;
    choose(display, wishes, &config, 1, &configs);
    bind(EGL_OPENGL_ES_API);
    const EGLContext context = create(display, config, EGL_NO_CONTEXT, version);
    make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);

    Context gpu = gles::adopt_current(get);
    const Tensor tensor = (gpu.full({3}, 1) + 1.0f).compute();
    const Tensor pending = tensor * 2.0f;
    if (releases_context) make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    destroy(display, context);
    terminate(display);
    dlclose(library);
    if (releases_context) {
      EXPECT_TESSERA_ERROR(pending.read(), wrong_thread, "no context is");
    }
  }
  std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
}

TEST(GlesAdoptDeathTest, LetsGoAfterTheHostHasUnloadedEgl) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const bool releases_context : {true, false}) {
    EXPECT_EXIT(let_go_after_egl("libEGL.so.1", EGL_PLATFORM_SURFACELESS_MESA, releases_context),
                ::testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace tessera::test::gles_adopt_test
