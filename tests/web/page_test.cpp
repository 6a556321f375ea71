// What a page has of its own: events between calls, contexts and devices that it takes away, questions that stand
// still.
#include <emscripten/emscripten.h>
#include <emscripten/html5.h>
#include <gmock/gmock.h>

#include <optional>

#include "support/compare.h"
#include "support/devices.h"
#include <tessera/gles.h>
#include <tessera/webgpu.h>

// clang-format off
// Counts calls that wait for the browser's GPU process, by name.
EM_JS(void, count_questions, (), {
  if (globalThis.tesseraQuestions) { tesseraQuestions = {}; return; }
  globalThis.tesseraQuestions = {};
  const prototype = WebGL2RenderingContext.prototype;
  const names = ["getError", "checkFramebufferStatus", "isTexture", "isFramebuffer", "isBuffer", "getProgramParameter",
    "getShaderParameter", "getProgramInfoLog", "getShaderInfoLog", "getUniformLocation", "finish", "readPixels",
    "getBufferSubData", "getTexParameter", "getFramebufferAttachmentParameter", "getRenderbufferParameter",
    "getVertexAttrib", "getQueryParameter", "getUniform", "getActiveUniform"];
  for (const name of names) {
    const own = prototype[name];
    prototype[name] = function(...given) {
      tesseraQuestions[name] = (tesseraQuestions[name] || 0) + 1;
      return own.apply(this, given);
    };
  }
  // Blink knows all bindings itself, and asks the GPU process for these.
  const asked = new Set([0x0C23, 0x8E24, 0x8E23]);
  const parameter = prototype.getParameter;
  prototype.getParameter = function(name) {
    if (asked.has(name)) tesseraQuestions["getParameter " + name] = (tesseraQuestions["getParameter " + name] || 0) + 1;
    return parameter.call(this, name);
  };
});
EM_JS(int, questions_asked, (), {
  const all = Object.entries(tesseraQuestions);
  for (const pair of all) console.log("asked: " + pair[0] + " " + pair[1]); // Emscripten 3 knows no patterns here
  return all.length;
});
EM_JS(void, lose_webgl, (int handle), { GL.getContext(handle).GLctx.getExtension("WEBGL_lose_context").loseContext(); });
EM_JS(void, destroy_device, (int device), { Module.tesseraGpu.objects[device].destroy(); });
EM_JS(void, call_when_suspended, (), { setTimeout(() => _tessera_test_enters(), 0); });
// clang-format on

namespace tessera::test {
namespace {

using ::testing::Each;

class Page : public OnDevice {
 protected:
  bool is_webgl() const { return GetParam().backend == BackendKind::gles; }
  Context make() const {
    return Context::create({.prefer = {GetParam().backend}, .device_errors = DeviceErrors::later});
  }
  void take_device_away(const Context& gpu) const {
    if (is_webgl()) lose_webgl(reinterpret_cast<int>(gles::host_context(gpu).context));
    else destroy_device(reinterpret_cast<int>(webgpu::host_device(gpu).device));
  }
  // A WebGL2 context of the page's, which is current.
  static EMSCRIPTEN_WEBGL_CONTEXT_HANDLE make_canvas() {
    EM_ASM({ specialHTMLTargets["page"] = new OffscreenCanvas(8, 6); });
    EmscriptenWebGLContextAttributes attributes;
    emscripten_webgl_init_context_attributes(&attributes);
    attributes.majorVersion = 2;
    const EMSCRIPTEN_WEBGL_CONTEXT_HANDLE canvas = emscripten_webgl_create_context("page", &attributes);
    EXPECT_GT(canvas, 0);
    emscripten_webgl_make_context_current(canvas);
    return canvas;
  }
  static void let_page_go_on(int milliseconds = 1) { emscripten_sleep(static_cast<unsigned>(milliseconds)); }
};

TEST_P(Page, FramesThatRepeatAskTheDeviceNothing) {
  if (!is_webgl()) GTEST_SKIP() << "WebGPU has no questions that wait";
  Context gpu = make();
  const Program program = Program::record(gpu, {{.shape = {6, 8, 4}}}, [](std::span<const Tensor> in) {
    return std::vector{gaussian_blur(in[0], 1) * 2.0f};
  });
  const auto frame = [&] { return program.run({gpu.tensor({6, 8, 4}, std::vector<float>(192, 0.25f))})[0]; };
  for (int i = 0; i < 4; ++i) frame();
  count_questions();
  for (int i = 0; i < 8; ++i) frame();
  EXPECT_EQ(questions_asked(), 0);
  EXPECT_THAT(frame().read(), Each(::testing::FloatNear(0.5f, 1e-4f)));
}

TEST_P(Page, FramesInThePagesOwnContextAskNothingEither) {
  if (!is_webgl()) GTEST_SKIP() << "WebGPU has no questions that wait";
#ifndef NDEBUG
  GTEST_SKIP() << "debug builds compare all state of the page's context around each call";
#endif
  const EMSCRIPTEN_WEBGL_CONTEXT_HANDLE canvas = make_canvas();
  {
    Context gpu = gles::adopt_current({.device_errors = DeviceErrors::later});
    const Tensor x = gpu.full({6, 8, 4}, 0.25).compute();
    const auto frame = [&] {
      gles::to_texture(gaussian_blur(x, 1) * 2.0f, gles::HostFramebuffer{.width = 8, .height = 6}, {.flip_y = true});
    };
    for (int i = 0; i < 4; ++i) frame();
    count_questions();
    for (int i = 0; i < 8; ++i) frame();
    EXPECT_EQ(questions_asked(), 0);
    const auto mask = [] { return EM_ASM_INT({ return GLctx.getParameter(GLctx.COLOR_WRITEMASK)[1] ? 1 : 0; }); };
    EM_ASM({ GLctx.colorMask(true, false, true, true); });  // a state that tessera answers for
    frame();
    EXPECT_EQ(mask(), 0);
  }
  emscripten_webgl_destroy_context(canvas);
}

TEST_P(Page, ItsOwnContextNeedNotBeCurrent) {
  if (!is_webgl()) GTEST_SKIP() << "WebGPU has no current context";
  const EMSCRIPTEN_WEBGL_CONTEXT_HANDLE canvas = make_canvas();
  {
    Context gpu = gles::adopt_current({.device_errors = DeviceErrors::later});
    const Tensor x = gpu.full({3}, 2).compute();
    emscripten_webgl_make_context_current(0);
    EXPECT_THAT((x + 1.0f).read(), Each(3.0f));
    std::vector<float> got;
    (x + 2.0f).read_async().then([&](Pending<std::vector<float>> done) { got = done.get(); });
    for (int i = 0; i < 2000 && got.empty(); ++i) let_page_go_on();
    EXPECT_THAT(got, ::testing::ElementsAre(4, 4, 4));
    EXPECT_EQ(emscripten_webgl_get_current_context(), 0);
  }
  emscripten_webgl_destroy_context(canvas);
}

TEST_P(Page, ADeviceThatThePageTakesAwayIsReplaced) {
  Context gpu = make();
  const Tensor x = gpu.tensor({3}, {1, 2, 3}), y = (x * 2.0f).compute();
  take_device_away(gpu);
  EXPECT_EQ((y + 1.0f).read(), (std::vector<float>{3, 5, 7}));
  EXPECT_EQ(gpu.stats().device_losses, 1u);
  take_device_away(gpu);
  let_page_go_on(50);
  (y + 2.0f).compute();
  EXPECT_EQ(y.read(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(gpu.stats().device_losses, 2u);
}

TEST_P(Page, CallbacksComeBetweenEvents) {
  Context gpu = make();
  int calls = 0;
  std::vector<float> got;
  (gpu.full({3}, 2) * 3.0f).read_async().then([&](Pending<std::vector<float>> done) {
    ++calls;
    got = done.get();
    (gpu.full({3}, 1) + 1.0f).compute();
  });
  const Program program =
      Program::record(gpu, {{.shape = {3}}}, [](std::span<const Tensor> in) { return std::vector{exp(in[0]) + 0.5f}; });
  program.prepare().then([&](Pending<void> done) {
    done.get();
    ++calls;
  });
  for (int i = 0; i < 2000 && calls < 2; ++i) let_page_go_on();
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(got, Each(6.0f));
  let_page_go_on(20);
  EXPECT_EQ(calls, 2);
}

// Nothing is there that could be suspended: a callback is told so, and goes on.
TEST_P(Page, CallbacksCannotWaitForWebGpu) {
  if (is_webgl()) GTEST_SKIP() << "nothing suspends on WebGL2";
  Context gpu = make();
  std::optional<ErrorCode> refusal;
  (gpu.full({3}, 2) * 3.0f).read_async().then([&](const Pending<std::vector<float>>&) {
    try {
      (gpu.full({3}, 1) + 1.0f).read();
    } catch (const Error& error) {
      refusal = error.code();
    }
  });
  for (int i = 0; i < 2000 && !refusal; ++i) let_page_go_on();
  ASSERT_TRUE(refusal);
  EXPECT_TRUE(*refusal == ErrorCode::unsupported || *refusal == ErrorCode::busy) << to_string(*refusal);
  EXPECT_THAT((gpu.full({3}, 1) + 1.0f).read(), Each(2.0f));
}

}  // namespace

struct SuspendedCall {
  Context* gpu;
  int entered = 0;
  std::vector<ErrorCode> refusals{};
};
SuspendedCall* suspended = nullptr;

namespace {

// Calls that come while another is suspended are refused; nothing is lost, and the other goes on.
TEST_P(Page, CallsThatEnterASuspendedContextAreRefused) {
  if (is_webgl()) GTEST_SKIP() << "nothing suspends on WebGL2";
  Context gpu = make();
  const Tensor x = gpu.full({1 << 16}, 2).compute();
  SuspendedCall call{&gpu};
  suspended = &call;
  for (int i = 0; i < 20 && call.refusals.empty(); ++i) {
    call_when_suspended();
    EXPECT_THAT((exp(x * 0.0f) + static_cast<float>(i)).read(), Each(static_cast<float>(i + 1)));
    let_page_go_on(2);
  }
  suspended = nullptr;
  EXPECT_GT(call.entered, 0);
  EXPECT_THAT(call.refusals, ::testing::Contains(ErrorCode::busy));
  EXPECT_THAT(call.refusals, Each(ErrorCode::busy));
  EXPECT_THAT((x + 1.0f).read(), Each(3.0f));
}

TESSERA_ON_GPU_DEVICES(Page);

}  // namespace

extern "C" EMSCRIPTEN_KEEPALIVE void tessera_test_enters() {
  if (!suspended) return;
  ++suspended->entered;
  try {
    (suspended->gpu->full({3}, 1) + 1.0f).compute();
  } catch (const Error& error) {
    suspended->refusals.push_back(error.code());
  }
}

}  // namespace tessera::test
