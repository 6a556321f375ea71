// A GL host whose thread never waits: reads that come later, rings of lent textures, names for debuggers.
#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <map>
#include <thread>

#include "support/gles_host.h"
#include <tessera/monitor.h>

namespace tessera::test::gles_reads_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GlesReads : public OnGlesHost {};

// GL functions that can wait, as the context finds them here: they note how they were called.
struct Waits {
  std::vector<GLuint64> timeouts;
  int finishes = 0, maps = 0;
  PFNGLCLIENTWAITSYNCPROC wait = nullptr;
  PFNGLFINISHPROC finish = nullptr;
  PFNGLMAPBUFFERRANGEPROC map = nullptr;
} waits;

GLenum GLAD_API_PTR noted_wait(GLsync sync, GLbitfield flags, GLuint64 timeout) {
  waits.timeouts.push_back(timeout);
  return waits.wait(sync, flags, timeout);
}
void GLAD_API_PTR noted_finish() {
  ++waits.finishes;
  waits.finish();
}
void* GLAD_API_PTR noted_map(GLenum target, GLintptr offset, GLsizeiptr size, GLbitfield access) {
  ++waits.maps;
  return waits.map(target, offset, size, access);
}

Context adopt_noting_waits(const GlesHost& host) {
  waits = {.wait = host.find<PFNGLCLIENTWAITSYNCPROC>("glClientWaitSync"),
           .finish = host.find<PFNGLFINISHPROC>("glFinish"),
           .map = host.find<PFNGLMAPBUFFERRANGEPROC>("glMapBufferRange")};
  return gles::adopt_current([loader = host.loader()](const char* name) {
    const std::string_view wanted(name);
    if (wanted == "glClientWaitSync") return reinterpret_cast<void*>(noted_wait);
    if (wanted == "glFinish") return reinterpret_cast<void*>(noted_finish);
    if (wanted == "glMapBufferRange") return reinterpret_cast<void*>(noted_map);
    return loader(name);
  });
}

// Questions that wait for the device where GL runs in another process, as in a browser, by name.
std::map<std::string, int> questions;
GLenum next_error = GL_NO_ERROR;  // of the driver, as far as the guest knows

template <int number, class Function>
struct Noted;
template <int number, class Result, class... Arguments>
struct Noted<number, Result(GLAD_API_PTR*)(Arguments...)> {
  static inline Result(GLAD_API_PTR* real)(Arguments...) = nullptr;
  static inline std::string name;
  static Result GLAD_API_PTR call(Arguments... arguments) {
    ++questions[name];
    if constexpr (std::is_same_v<Result, GLenum> && sizeof...(Arguments) == 0)
      if (next_error != GL_NO_ERROR) return std::exchange(next_error, GL_NO_ERROR);
    return real(arguments...);
  }
};

class NotingLoader {
 public:
  explicit NotingLoader(const GlesHost& host) : find_(host.loader()) {
    note<0, PFNGLGETERRORPROC>("glGetError");
    note<1, PFNGLCHECKFRAMEBUFFERSTATUSPROC>("glCheckFramebufferStatus");
    note<2, PFNGLISTEXTUREPROC>("glIsTexture");
    note<3, PFNGLISFRAMEBUFFERPROC>("glIsFramebuffer");
    note<4, PFNGLGETPROGRAMIVPROC>("glGetProgramiv");
    note<5, PFNGLGETSHADERIVPROC>("glGetShaderiv");
    note<6, PFNGLFINISHPROC>("glFinish");
    note<7, PFNGLCLIENTWAITSYNCPROC>("glClientWaitSync");
    note<8, PFNGLMAPBUFFERRANGEPROC>("glMapBufferRange");
    note<9, PFNGLGETFRAMEBUFFERATTACHMENTPARAMETERIVPROC>("glGetFramebufferAttachmentParameteriv");
    note<10, PFNGLGETUNIFORMLOCATIONPROC>("glGetUniformLocation");
    note<11, PFNGLGETQUERYOBJECTUIVPROC>("glGetQueryObjectuiv");
  }
  void* operator()(const char* name) const {
    const auto noted = noted_.find(name);
    return noted == noted_.end() ? find_(name) : noted->second;
  }

 private:
  template <int number, class Function>
  void note(const char* name) {
    Noted<number, Function>::real = reinterpret_cast<Function>(find_(name));
    Noted<number, Function>::name = name;
    noted_[name] = reinterpret_cast<void*>(&Noted<number, Function>::call);
  }

  gles::Loader find_;
  std::map<std::string, void*> noted_;
};

void expect_all_come(const Context& gpu) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (gpu.reads_under_way() > 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the host's frame
  }
}

TEST_P(GlesReads, NothingWaitsForTheDevice) {
  Context gpu = adopt_noting_waits(host());
  const Tensor x = gpu.tensor({200, 200}, std::vector<float>(40000, 0.5f)).compute();
  std::vector<Pending<std::vector<float>>> reads;
  for (int i = 0; i < 3; ++i) reads.push_back((matmul(x, x) * static_cast<float>(i)).read_async());
  reads.push_back(x.cast(DType::u8).read_async());
  EXPECT_EQ(waits.maps, 0);  // nothing was taken yet
  expect_all_come(gpu);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_THAT(reads[i].get(), Each(50.0f * static_cast<float>(i)));
  EXPECT_THAT(reads[3].get(), Each(0.0f));
  EXPECT_EQ(waits.finishes, 0);
  EXPECT_EQ(waits.maps, 4);
  // get() may wait, and found that it need not: a fence that is reached is asked once.
  EXPECT_FALSE(waits.timeouts.empty());
  std::erase(waits.timeouts, GLuint64{0});
  EXPECT_LE(waits.timeouts.size(), 4u);
}

// A whole frame of a host's: a texture in, an upload, a program, a texture out, a read of the frame before.
TEST_P(GlesReads, FramesThatRepeatAskTheDeviceNothingWhereErrorsMayComeLater) {
  std::vector<std::string> warnings;
  Context gpu = gles::adopt_current(NotingLoader(host()),
                                    {.on_message = [&](const Message& message) { warnings.push_back(message.text); },
                                     .message_level = Message::Level::warning,
                                     .device_errors = DeviceErrors::later});
  const std::vector<std::uint8_t> grey(4 * 8 * 6, 51);
  const gles::HostTexture camera{host().texture(GL_RGBA8, 8, 6, GL_RGBA, GL_UNSIGNED_BYTE, grey.data()), 8, 6},
      screen{host().texture(GL_RGBA8, 8, 6, GL_RGBA, GL_UNSIGNED_BYTE, nullptr), 8, 6};
  const gles::HostFramebuffer window{
      .framebuffer = host().framebuffer(host().texture(GL_RGBA8, 8, 6, GL_RGBA, GL_UNSIGNED_BYTE, nullptr)),
      .width = 8,
      .height = 6};
  const Program program = Program::record(gpu, {{.shape = {6, 8, 4}}, {.shape = {4}}}, [](std::span<const Tensor> in) {
    return std::vector{gaussian_blur(in[0], 1) * in[1]};
  });
  const auto frame = [&](float gain) {
    const Tensor filtered =
        program({gles::from_texture(gpu, camera), gpu.tensor({4}, std::vector<float>(4, gain))})[0].compute();
    gles::to_texture(filtered, screen);
    gles::to_texture(filtered, window);
  };
  for (int i = 0; i < 4; ++i) frame(0.5f);
  questions.clear();
  for (int i = 0; i < 8; ++i) frame(0.25f * static_cast<float>(i));
  if (host().is_desktop()) questions.erase("glGetError");  // which alone tells of conditional rendering
  EXPECT_THAT(questions, IsEmpty());

  // A read waits anyway, and asks. The error may be the host's own.
  next_error = GL_INVALID_OPERATION;
  EXPECT_THAT(gles::from_texture(gpu, screen).read(), Each(::testing::FloatNear(0.35f, 0.01f)));
  EXPECT_THAT(warnings,
              Contains(AllOf(HasSubstr("0x0502"), HasSubstr("up to the kernel"), HasSubstr("of the host's own"))));
  next_error = GL_NO_ERROR;
  host().expect_no_error("frames");
}

TEST_P(GlesReads, ContextsOfOnesOwnThrowErrorsThatComeLater) {
  if (host().is_desktop()) GTEST_SKIP() << "tessera's own contexts are of OpenGL ES";
  Context own = Context::create(
      {.prefer = {BackendKind::gles}, .driver = GetParam().driver, .device_errors = DeviceErrors::later});
  const Tensor x = own.full({4}, 2).compute();
  const auto frame = [&] { return tanh(x).compute(); };
  frame(), frame();
  const gles::HostContext context = gles::host_context(own);
  const auto make_current = reinterpret_cast<PFNEGLMAKECURRENTPROC>(context.get_proc_address("eglMakeCurrent"));
  ASSERT_TRUE(make_current(context.display, EGL_NO_SURFACE, EGL_NO_SURFACE, context.context));
  reinterpret_cast<PFNGLENABLEPROC>(context.get_proc_address("glEnable"))(0xdead);
  host().make_current();
  EXPECT_NO_THROW(frame());
  EXPECT_TESSERA_ERROR(x.read(), unsupported, "0x0500", "up to the kernel", "tanh");
  EXPECT_THAT(tanh(x).read(), Each(::testing::FloatNear(std::tanh(2.0f), 1e-4f)));
}

TEST_P(GlesReads, CallbacksComeWithinCallsOfTheHost) {
  const Tensor x = gpu().tensor({3}, {1, 2, 3});
  int calls = 0;
  std::vector<float> got;
  (x * 2.0f).read_async().then([&](Pending<std::vector<float>> done) {
    ++calls;
    EXPECT_TRUE(done.ready());
    got = done.get();
    EXPECT_THAT((x + 1.0f).read(), ElementsAre(2, 3, 4));  // a callback may call tessera
  });
  expect_all_come(gpu());
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(got, ElementsAre(2, 4, 6));
  (x * 3.0f).read_async().then([&](Pending<std::vector<float>> done) { got = done.get(); });
  gpu().close();
  EXPECT_THAT(got, ElementsAre(3, 6, 9));
  {
    GlesHost other(GetParam());
    Context gone = other.adopt();
    (gone.full({3}, 1) + 1.0f).read_async().then([&](Pending<std::vector<float>> done) {
      ++calls;
      try {
        done.get();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::cancelled);
      }
    });
  }
  EXPECT_EQ(calls, 2);
  host().make_current();
}

TEST_P(GlesReads, GetWaitsWhereTheHostDoesNotCareToAsk) {
  const Tensor x = gpu().tensor({3}, {1, 2, 3});
  EXPECT_THAT((x * 2.0f).read_async().get(), ElementsAre(2, 4, 6));
  EXPECT_EQ(gpu().reads_under_way(), 0u);
  { const auto dropped = (x * 3.0f).read_async(); }
  EXPECT_EQ(gpu().reads_under_way(), 0u);
  auto read = (x * 4.0f).read_async();
  std::thread([&] {
    EXPECT_TESSERA_ERROR(gpu().reads_under_way(), wrong_thread);
    EXPECT_TESSERA_ERROR(read.get(), wrong_thread);
  }).join();
  auto late = (x * 5.0f).read_async();
  gpu().close();
  EXPECT_THAT(late.get(), ElementsAre(5, 10, 15));  // was under way
}

TEST_P(GlesReads, ARingOfLentTexturesStaysAsItIs) {
  const Tensor x = gpu().full({4, 6, 4}, 1).compute();
  std::vector<gles::GpuData> ring;
  for (int i = 0; i < 3; ++i) ring.push_back(gles::data_to_gpu(x * 0.0f, {.custom_tex_shape = gles::TexShape{4, 6}}));
  const std::vector<unsigned> textures{ring[0].texture, ring[1].texture, ring[2].texture};
  const auto held = [&] { return gpu().memory().bytes_in_use + gpu().memory().bytes_pooled; };
  const std::uint64_t before = held();
  gpu().reset_stats();
  for (std::size_t i = 0; i < 100; ++i) {
    (x * static_cast<float>(i)).compute_into(ring[i % 3].tensor_ref);
    ASSERT_EQ(held(), before) << "frame " << i;
  }
  EXPECT_EQ(gpu().stats().dispatches, 100u);  // without copies
  for (std::size_t i = 0; i < 3; ++i) {
    const gles::GpuData now = gles::data_to_gpu(ring[i].tensor_ref, {.custom_tex_shape = gles::TexShape{4, 6}});
    EXPECT_EQ(now.texture, textures[i]);
    const auto pixels = host().pixels<float>(host().framebuffer(textures[i]), 6, 4, GL_RGBA, GL_FLOAT);
    EXPECT_THAT(pixels, Each(i == 0 ? 99.0f : static_cast<float>(96 + i)));
  }
  // Images, whose kernels lay them out for themselves, too.
  gaussian_blur(x * 2.0f, 1).compute_into(ring[0].tensor_ref);
  const auto pixels = host().pixels<float>(host().framebuffer(textures[0]), 6, 4, GL_RGBA, GL_FLOAT);
  for (const float value : pixels) EXPECT_NEAR(value, 2.0f, 1e-5f);
}

// In the host's context, and while the host itself measures the time that commands take.
TEST_P(GlesReads, ProfilersGetTheTimeOfEachCall) {
  constexpr GLenum time_elapsed = 0x88BF;  // GL_TIME_ELAPSED
  if (!host().is_desktop() && !gl().EXT_disjoint_timer_query) GTEST_SKIP() << "the context has no timers";
  const Tensor x = gpu().full({64, 64}, 0.5).compute();
  sum(square(x)).compute();  // compiles
  Monitor monitor(gpu());
  GLuint query = 0, nanoseconds = 0;
  gl().GenQueries(1, &query);
  gl().BeginQuery(time_elapsed, query);
  {
    const auto frame = monitor.span("frame");
    sum(square(x)).compute();
  }
  gl().EndQuery(time_elapsed);
  (x + 1.0f).compute();
  ASSERT_TRUE(monitor.report({.wait = true}).device_busy);
  const std::vector<CallTime> calls = monitor.take_calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].span, "frame");
  EXPECT_EQ(calls[1].span, "");
  for (const CallTime& call : calls) EXPECT_FALSE(call.kernels.empty());
  gl().GetQueryObjectuiv(query, GL_QUERY_RESULT, &nanoseconds);
  gl().DeleteQueries(1, &query);
  host().expect_no_error("times");
}

void GLAD_API_PTR note_message(GLenum, GLenum type, GLuint, GLenum, GLsizei, const GLchar* text, const void* to) {
  if (type != GL_DEBUG_TYPE_PUSH_GROUP_KHR) return;
  static_cast<std::vector<std::string>*>(const_cast<void*>(to))->emplace_back(text);
}

TEST_P(GlesReads, DebuggersSeeNamesOfRunsAndKernels) {
  if (!gl().KHR_debug) GTEST_SKIP() << "the context has no GL_KHR_debug";
  std::vector<std::string> groups;
  gl().Enable(GL_DEBUG_OUTPUT_KHR);
  gl().Enable(GL_DEBUG_OUTPUT_SYNCHRONOUS_KHR);
  gl().DebugMessageCallbackKHR(note_message, &groups);
  gl().PushDebugGroupKHR(GL_DEBUG_SOURCE_APPLICATION_KHR, 0, -1, "host");
  if (groups.empty()) GTEST_SKIP() << "the driver tells its callback nothing of groups";
  gl().PopDebugGroupKHR();
  const Tensor x = gpu().full({8}, 2).compute();
  groups.clear();
  sum(square(x)).compute();
  EXPECT_THAT(groups, Contains("tessera run"));
  EXPECT_THAT(groups, Contains(HasSubstr("square > reduce")));
  GLint depth = 0;
  gl().GetIntegerv(GL_DEBUG_GROUP_STACK_DEPTH_KHR, &depth);
  EXPECT_EQ(depth, 1);
  for (; depth < 64; ++depth) gl().PushDebugGroupKHR(GL_DEBUG_SOURCE_APPLICATION_KHR, 0, -1, "host");
  EXPECT_THAT((x + 1.0f).read(), Each(3.0f));  // there is no room for names
  for (; depth > 1; --depth) gl().PopDebugGroupKHR();
  host().expect_no_error("groups");
  {
    Context quiet = host().adopt({.debug_groups = false});
    groups.clear();
    (quiet.full({8}, 2) + 1.0f).compute();
    EXPECT_THAT(groups, IsEmpty());
  }
  gl().DebugMessageCallbackKHR(nullptr, nullptr);
}

TESSERA_ON_GLES_DEVICES(GlesReads);

}  // namespace
}  // namespace tessera::test::gles_reads_test
