// gles::data_to_gpu and gles::shader_accessor, by a host that draws with the texture it is given.
#include <gmock/gmock.h>

#include <numeric>
#include <thread>

#include "support/gles_host.h"
#include <tessera/sharing.h>

namespace tessera::test::gles_out_test {
namespace {

using gles::TexShape;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::vector<float> counted(int count, float first = 0) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

class GlesOut : public OnGlesHost {
 protected:
  // The whole texture, as the host reads it.
  std::vector<float> texels(const gles::GpuData& data) {
    const GLuint framebuffer = host().framebuffer(data.texture);
    auto values = host().pixels<float>(framebuffer, data.tex_shape.width, data.tex_shape.height, GL_RGBA, GL_FLOAT);
    gl().DeleteFramebuffers(1, &framebuffer);
    return values;
  }
  std::vector<float> drawn(const std::string& fragment_text, GLuint texture, const char* sampler, int width) {
    const GLuint program = host().program(fragment_text);
    const GLuint target = host().texture(GL_RGBA32F, width, 1, 0, 0, nullptr);
    gl().ActiveTexture(GL_TEXTURE3);
    gl().BindTexture(GL_TEXTURE_2D, texture);
    gl().UseProgram(program);
    gl().Uniform1i(gl().GetUniformLocation(program, sampler), 3);
    const GLuint framebuffer = host().framebuffer(target);
    host().draw(program, framebuffer, width, 1);
    gl().ActiveTexture(GL_TEXTURE0);
    return host().pixels<float>(framebuffer, width, 1, GL_RGBA, GL_FLOAT);
  }
};

// TF.js's documented pipeline: attach the texture to a framebuffer, blit that to the host's.
TEST_P(GlesOut, IsBlittedToTheHostsFramebuffer) {
  std::vector<float> image(4 * 3 * 4);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 5) / 4;
  const Tensor frame = gpu().tensor({3, 4, 4}, image) * 1.0f;
  gpu().reset_stats();
  const gles::GpuData data = gles::data_to_gpu(frame, {.custom_tex_shape = TexShape{3, 4}});
  EXPECT_EQ(gpu().stats().dispatches, 1u);  // computed right into that shape
  ASSERT_EQ(data.tex_shape, (TexShape{3, 4}));
  const GLuint source = host().framebuffer(data.texture);
  const GLuint target = host().framebuffer(host().texture(GL_RGBA8, 4, 3, 0, 0, nullptr));
  gl().BindFramebuffer(GL_READ_FRAMEBUFFER, source);
  gl().BindFramebuffer(GL_DRAW_FRAMEBUFFER, target);
  gl().BlitFramebuffer(0, 0, 4, 3, 0, 0, 4, 3, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  const auto pixels = host().pixels<std::uint8_t>(target, 4, 3, GL_RGBA, GL_UNSIGNED_BYTE);
  for (std::size_t i = 0; i < image.size(); ++i) EXPECT_NEAR(pixels[i], image[i] * 255, 1) << i;
  EXPECT_EQ(gpu().stats().bytes_downloaded, 0u);
}

TEST_P(GlesOut, IsSampledInTheHostsShader) {
  const gles::GpuData data = gles::data_to_gpu(gpu().tensor({2, 2, 4}, counted(16)) + 0.5f);
  EXPECT_THAT(drawn("#version 300 es\nprecision highp float; uniform highp sampler2D s; out vec4 c;\n"
                    "void main() { c = texelFetch(s, ivec2(gl_FragCoord.x, 1), 0); }",
                    data.texture, "s", 2),
              ElementsAreArray(counted(8, 8.5f)));
}

TEST_P(GlesOut, CostsNothingInTheShapeItHas) {
  const Tensor tensor = gpu().tensor({2, 3, 4}, counted(24)) * 2.0f;
  const gles::GpuData first = gles::data_to_gpu(tensor, {.custom_tex_shape = TexShape{1, 6}});
  gpu().reset_stats();
  const gles::GpuData second = gles::data_to_gpu(tensor, {.custom_tex_shape = TexShape{1, 6}});
  const gles::GpuData any = gles::data_to_gpu(tensor);
  const gles::GpuData reshaped = gles::data_to_gpu(tensor.reshape({24}));
  EXPECT_EQ(gpu().stats().dispatches, 0u);
  for (const auto& data : {second, any, reshaped}) EXPECT_EQ(data.texture, first.texture);
  const gles::GpuData other = gles::data_to_gpu(tensor, {.custom_tex_shape = TexShape{3, 3}});
  EXPECT_EQ(gpu().stats().dispatches, 1u);
  EXPECT_NE(other.texture, first.texture);
  auto expected = counted(24);
  for (float& value : expected) value *= 2;
  expected.resize(36);  // nine texels: three of them are padding
  EXPECT_THAT(texels(other), ElementsAreArray(expected));
  EXPECT_EQ(other.internal_format, static_cast<unsigned>(GL_RGBA32F));
  EXPECT_EQ(gpu().stats().bytes_downloaded, 0u);
}

TEST_P(GlesOut, PadsWithZeros) {
  for (const int count : {1, 3, 4, 5, 23}) {
    const gles::GpuData data = gles::data_to_gpu(gpu().tensor({count}, counted(count, 1)));
    auto expected = counted(count, 1);
    expected.resize(static_cast<std::size_t>(4 * data.tex_shape.width * data.tex_shape.height));
    EXPECT_THAT(texels(data), ElementsAreArray(expected));
  }
  EXPECT_THAT(texels(gles::data_to_gpu(gpu().full({3}, 7))), ElementsAre(7, 7, 7, 0));
}

TEST_P(GlesOut, PadsWithZerosWhateverWasThereBefore) {
  const auto expect_padded = [&](const Tensor& t, const char* what) {
    const gles::GpuData data = gles::data_to_gpu(t);
    const GLuint framebuffer = host().framebuffer(data.texture);
    const auto [height, width] = data.tex_shape;
    std::vector<float> values;
    if (is_float(t.dtype())) {
      values = host().pixels<float>(framebuffer, width, height, GL_RGBA, GL_FLOAT);
    } else {
      const bool is_signed = t.dtype() == DType::i32 || t.dtype() == DType::i8;
      for (const std::int32_t value : host().pixels<std::int32_t>(framebuffer, width, height, GL_RGBA_INTEGER,
                                                                  is_signed ? GL_INT : GL_UNSIGNED_INT))
        values.push_back(static_cast<float>(value));
    }
    gl().DeleteFramebuffers(1, &framebuffer);
    std::vector<float> expected(static_cast<std::size_t>(t.shape().size()), 1.0f);
    expected.resize(values.size());
    EXPECT_EQ(values, expected) << what << " of " << t.shape().to_string() << " " << to_string(t.dtype());
  };
  const std::vector<float> white(12, 1.0f);
  const GLuint lent = host().texture(GL_RGBA32F, 3, 1, GL_RGBA, GL_FLOAT, white.data());
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean})
    for (const std::int64_t count : {1, 5, 23}) {
      // What is freed here, full of ones, is what the tensors below get.
      const std::int64_t all = count == 23 ? 24 : count == 5 ? 8 : 4;
      gpu().full({all}, 1, dtype).compute();
      expect_padded(gpu().full({count}, 1, dtype), "full");
      gpu().full({all}, 1, dtype).compute();
      expect_padded(gpu().tensor({count}, std::vector<float>(static_cast<std::size_t>(count), 1)).cast(dtype), "cast");
    }
  expect_padded(gles::from_texture(gpu(), {.texture = lent, .width = 3, .height = 1, .channels = "RGB"}),
                "from a texture");
}

// One text serves outputs that fill their textures and others, and writes zeros past the end of those.
TEST_P(GlesOut, PadsWithZerosWhereAnotherRunFilledTheTexture) {
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  const auto work = [](Context& context, int count, int skipped) {
    const Tensor all = context.tensor({skipped + count}, counted(skipped + count, -3)).compute();
    const Tensor x = skipped > 0 ? slice(all, {skipped}, {count}) : all;
    return where(x > 100.0f, x * 0.5f, 1.0f / (x + 5.0f)) + 1.0f;
  };
  const auto expect_padded = [&](const gles::GpuData& data, int count, int skipped) {
    std::vector<float> expected = work(cpu, count, skipped).read();
    expected.resize(static_cast<std::size_t>(4 * data.tex_shape.width * data.tex_shape.height));
    EXPECT_THAT(texels(data), ElementsAreArray(expected)) << count << " elements from " << skipped << " on";
  };
  // From element 4 on texels are read elsewhere, from 3 on elements are read one by one.
  for (const int skipped : {0, 4, 3}) {
    const auto kernels_of = [&](int count, int width) {
      const std::uint64_t before = gpu().stats().kernels_compiled;
      expect_padded(gles::data_to_gpu(work(gpu(), count, skipped), {.custom_tex_shape = TexShape{2, width}}), count,
                    skipped);
      return gpu().stats().kernels_compiled - before;
    };
    EXPECT_EQ(kernels_of(24, 3), 1u) << skipped;
    EXPECT_EQ(kernels_of(22, 3) + kernels_of(40, 5) + kernels_of(36, 5) + kernels_of(33, 5), 0u) << skipped;
  }
  // Rows past the end, too, in another kernel, since texels of the input do not lie where those of the output do.
  expect_padded(gles::data_to_gpu(work(gpu(), 21, 0), {.custom_tex_shape = TexShape{5, 2}}), 21, 0);
  // 4096 elements and 4094 have textures of one size.
  Tensor target = work(gpu(), 4096, 0).compute();
  const gles::GpuData filled = gles::data_to_gpu(target);
  ASSERT_EQ(4 * filled.tex_shape.width * filled.tex_shape.height, 4096);
  expect_padded(filled, 4096, 0);
  target = {};
  target = work(gpu(), 4094, 0).compute();
  work(gpu(), 4094, 4).compute_into(target);
  expect_padded(gles::data_to_gpu(target), 4094, 4);
}

// What follows a part of a tensor in its texture is not part of what is handed out.
TEST_P(GlesOut, GivesPartsOfTensorsTexturesOfTheirOwn) {
  const Tensor whole = gpu().tensor({24}, counted(24)) * 1.0f;
  whole.compute();
  const Tensor beginning = slice(whole, {0}, {20}), middle = slice(whole, {6}, {9});
  const gles::GpuData kept = gles::data_to_gpu(whole, {.custom_tex_shape = TexShape{2, 3}});
  auto expected = counted(20);
  expected.resize(24);
  EXPECT_THAT(texels(gles::data_to_gpu(beginning, {.custom_tex_shape = TexShape{2, 3}})), ElementsAreArray(expected));
  expected = counted(9, 6);
  expected.resize(12);
  EXPECT_THAT(texels(gles::data_to_gpu(middle, {.custom_tex_shape = TexShape{1, 3}})), ElementsAreArray(expected));
  const gles::GpuData plain = gles::data_to_gpu(middle);
  expected.resize(static_cast<std::size_t>(4 * plain.tex_shape.width * plain.tex_shape.height));
  EXPECT_THAT(texels(plain), ElementsAreArray(expected));
}

TEST_P(GlesOut, WorksInCustomShapesAfterwards) {
  const Tensor a = gpu().tensor({5, 7}, counted(35)), b = gpu().tensor({5, 7}, counted(35, 1)) * 1.0f;
  const gles::GpuData wide = gles::data_to_gpu(a, {.custom_tex_shape = TexShape{1, 11}});
  const gles::GpuData high = gles::data_to_gpu(b, {.custom_tex_shape = TexShape{40, 1}});
  const Tensor sum = a + b;
  const gles::GpuData out = gles::data_to_gpu(sum, {.custom_tex_shape = TexShape{3, 3}});
  auto expected = counted(35);
  for (float& value : expected) value = 2 * value + 1;
  EXPECT_EQ(sum.read(), expected);
  EXPECT_EQ(wide.tensor_ref.read(), counted(35));
  EXPECT_EQ(high.tensor_ref.read(), counted(35, 1));
}

TEST_P(GlesOut, RefusesShapesThatDoNotFit) {
  const Tensor tensor = gpu().zeros({100});
  const auto with = [&](int height, int width) {
    return gles::data_to_gpu(tensor, {.custom_tex_shape = TexShape{height, width}});
  };
  EXPECT_TESSERA_ERROR(with(2, 2), invalid_argument, "[2,2]", "[100]", "4 texels", "25");
  EXPECT_TESSERA_ERROR(with(0, 25), invalid_argument, "[0,25]", "at least 1");
  EXPECT_TESSERA_ERROR(with(-5, -5), invalid_argument, "[-5,-5]", "at least 1");
  EXPECT_TESSERA_ERROR(with(1 << 20, 1), invalid_argument, "[1048576,1]", "at most");
  EXPECT_TESSERA_ERROR(with(1, 1 << 20), invalid_argument, "[1,1048576]", "at most");
  EXPECT_TESSERA_ERROR(gles::data_to_gpu(gpu().zeros({0, 3})), invalid_argument, "[0,3]", "no elements");
  EXPECT_TESSERA_ERROR(gles::data_to_gpu(Tensor()), invalid_argument);
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  EXPECT_TESSERA_ERROR(gles::data_to_gpu(cpu.zeros({3})), wrong_backend, "data_to_gpu", "gles", "cpu");
  EXPECT_TESSERA_ERROR(gles::shader_accessor(cpu.zeros({3}), "x"), wrong_backend, "cpu");
#if TESSERA_HAS_WEBGPU
  Context webgpu = Context::create({.prefer = {BackendKind::webgpu}});
  EXPECT_TESSERA_ERROR(gles::data_to_gpu(webgpu.full({4}, 1)), wrong_backend, "gles", "webgpu");
  EXPECT_TESSERA_ERROR(gles::to_texture(webgpu.full({1, 1}, 1), {.texture = 1, .width = 1, .height = 1}), wrong_backend,
                       "gles", "webgpu");
  EXPECT_TESSERA_ERROR(gles::from_texture(webgpu, {.texture = 1, .width = 1, .height = 1}), wrong_backend, "webgpu");
#endif
  EXPECT_EQ(with(1, 25).tensor_ref.read(), std::vector<float>(100));
}

TEST_P(GlesOut, AccessorsReadEveryType) {
  const std::vector<float> values{3, 0, 1, 100, 5, 7, 11};
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean}) {
    const Tensor tensor = gpu().tensor({7}, values).cast(dtype);
    const gles::GpuData data = gles::data_to_gpu(tensor, {.custom_tex_shape = TexShape{2, 1}});
    EXPECT_EQ(data.dtype, dtype);
    const std::string accessor = gles::shader_accessor(tensor, "my_tensor");
    auto expected = tensor.read();
    const auto got = drawn("#version 300 es\nprecision mediump float;\n" + accessor +
                               "out highp vec4 c;\nvoid main() { int i = int(gl_FragCoord.x);\n"
                               "  c = vec4(float(my_tensor(i)), float(my_tensor_at(i)), 0.0, 1.0); }",
                           data.texture, "my_tensor_texture", 7);
    for (std::size_t i = 0; i < 7; ++i) {
      EXPECT_EQ(got[4 * i], expected[i]) << to_string(dtype) << " " << i;
      EXPECT_EQ(got[4 * i + 1], expected[i]) << to_string(dtype) << " " << i;
    }
  }
}

TEST_P(GlesOut, AccessorsReadByIndexInAnyRank) {
  const Tensor all = gpu().tensor({200}, counted(200)) * 1.0f;
  const Tensor part = slice(all.reshape({5, 40}), {1, 0}, {3, 40});  // begins at element 40
  for (const auto& [shape, call, element] :
       std::vector<std::tuple<Shape, std::string, int>>{{Shape{2, 3, 4, 5}, "(1, 2, 3, 4)", 119},
                                                        {Shape{4, 6, 5}, "(3, 1, 2)", 3 * 30 + 5 + 2},
                                                        {Shape{10, 12}, "(9, 4)", 112},
                                                        {Shape{120}, "(77)", 77},
                                                        {Shape{2, 3, 2, 5, 2}, "(1, 0, 1, 3, 1)", 60 + 10 + 7}}) {
    const Tensor tensor = part.reshape(shape);
    const gles::GpuData data = gles::data_to_gpu(tensor);
    EXPECT_EQ(drawn("#version 300 es\nprecision highp float;\n" + gles::shader_accessor(tensor, "t") +
                        "out vec4 c;\nvoid main() { c = vec4(t_at" + call + "); }",
                    data.texture, "t_texture", 1)[0],
              static_cast<float>(40 + element))
        << shape.to_string();
  }
  const Tensor scalar = gpu().tensor({}, {42});
  EXPECT_EQ(drawn("#version 300 es\nprecision highp float;\n" + gles::shader_accessor(scalar, "t") +
                      "out vec4 c;\nvoid main() { c = vec4(t_at()); }",
                  gles::data_to_gpu(scalar).texture, "t_texture", 1)[0],
            42);
}

TEST_P(GlesOut, AccessorsHaveNamesThatCompile) {
  const Tensor tensor = gpu().tensor({1, 2, 3}, {1, 2, 3, 4, 5, 6}) * 1.0f;
  for (const char* name : {"", "2d", "gl", "gl_x", "webgl_x", "GL_ES", "a__b", "a_", "a b", "a;"})
    EXPECT_TESSERA_ERROR(gles::shader_accessor(tensor, name), invalid_argument, "no name");
  for (const char* name : {"main", "float", "uniform", "vec4", "sampler2D", "input", "output", "filter", "sample",
                           "active", "common", "half", "fixed"})
    EXPECT_TESSERA_ERROR(gles::shader_accessor(tensor, name), invalid_argument, name, "reserves");
  for (const char* name : {"texture", "texelFetch", "mix", "length"})
    EXPECT_TESSERA_ERROR(gles::shader_accessor(tensor, name), invalid_argument, name, "function of GLSL");
  // What the accessor calls its own variables is no word that others cannot use.
  const gles::GpuData data = gles::data_to_gpu(tensor);
  for (const std::string name : {"x", "y", "c", "i", "width", "texel", "tessera_x"})
    EXPECT_EQ(drawn("#version 300 es\nprecision highp float;\n" + gles::shader_accessor(tensor, name) +
                        "out vec4 color;\nvoid main() { color = vec4(" + name + "_at(0, 1, 2) + " + name + "(0)); }",
                    data.texture, (name + "_texture").c_str(), 1)[0],
              7)
        << name;
}

// The commands of one context run in order: what the host drew before it let go sees the old values.
TEST_P(GlesOut, HoldsUntilTheHostHasDrawn) {
  const GLuint target = host().framebuffer(host().texture(GL_RGBA32F, 64, 64, 0, 0, nullptr));
  for (int i = 0; i < 20; ++i) {
    gles::GpuData data = gles::data_to_gpu(gpu().full({64, 64, 4}, static_cast<float>(i)) + 0.0f,
                                           {.custom_tex_shape = TexShape{64, 64}});
    const GLuint source = host().framebuffer(data.texture);
    gl().BindFramebuffer(GL_READ_FRAMEBUFFER, source);
    gl().BindFramebuffer(GL_DRAW_FRAMEBUFFER, target);
    gl().BlitFramebuffer(0, 0, 64, 64, 0, 0, 64, 64, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    gl().BindFramebuffer(GL_FRAMEBUFFER, 0);
    gl().DeleteFramebuffers(1, &source);
    data.tensor_ref.dispose();
    gles::data_to_gpu(gpu().full({64, 64, 4}, -1) + 0.0f, {.custom_tex_shape = TexShape{64, 64}});  // takes the texture
    EXPECT_THAT(host().pixels<float>(target, 64, 64, GL_RGBA, GL_FLOAT), Each(static_cast<float>(i)));
  }
}

// While the host holds a lease nothing else is written there.
TEST_P(GlesOut, LeasesAreNotRecycled) {
  const gles::GpuData held = gles::data_to_gpu(gpu().full({16}, 3) + 0.0f);
  for (int i = 0; i < 10; ++i) (gpu().full({16}, 4) + static_cast<float>(i)).compute();
  EXPECT_THAT(texels(held), Each(3.0f));
}

// Other tables are laid out for the program's kernel once; this one may be another in each frame.
TEST_P(GlesOut, ATableThatIsLentIsReadAnewInEachRun) {
  const Tensor table = gpu().full({3, 3, 3, 3}, 0.25f) + 0.5f;
  const gles::GpuData data = gles::data_to_gpu(table);
  const Program lookup = Program::record(gpu(), {{.shape = {40, 40, 3}}}, [&](std::span<const Tensor> in) {
    return std::vector{colour_lookup(in[0], table)};
  });
  const Tensor frame = gpu().full({40, 40, 3}, 0.5f).compute();
  EXPECT_THAT(lookup.run({frame})[0].read(), Each(0.75f));
  const GLuint framebuffer = host().framebuffer(data.texture);
  gl().BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  gl().ClearColor(0.125f, 0.125f, 0.125f, 0.125f);
  gl().Clear(GL_COLOR_BUFFER_BIT);
  gl().BindFramebuffer(GL_FRAMEBUFFER, 0);
  gl().DeleteFramebuffers(1, &framebuffer);
  EXPECT_THAT(lookup.run({frame})[0].read(), Each(0.125f));
}

TEST_P(GlesOut, TextureOfTheHostsAreNotTakenAwayByASwitch) {
  Context own = open(GetParam());
  const Tensor x = (own.full({16}, 3) + 0.0f).label("lent");
  gles::GpuData held = gles::data_to_gpu(x);
  EXPECT_TESSERA_ERROR(own.switch_backend(BackendKind::cpu), invalid_argument, "1 tensor", "[16] f32", "lent",
                       "take_back_lent");
  EXPECT_EQ(own.backend(), BackendKind::gles);
  const gles::GpuData copy = held;
  held.tensor_ref.dispose();
  EXPECT_TRUE(own.why_resident(0)[0].is_lent);
  own.switch_backend(BackendKind::cpu, {.take_back_lent = true});
  EXPECT_EQ((x + 1.0f).read(), std::vector<float>(16, 4));
  EXPECT_FALSE(own.why_resident(0)[0].is_lent);
}

// Only the host can replace its device, so nothing is kept for that.
TEST_P(GlesOut, UploadsAreNotKeptTwiceOnAHostsDevice) {
  TensorHub hub(gpu());
  hub.publish({"uploaded", "m"}, gpu().tensor({6}, counted(6)).compute());
  EXPECT_FALSE(hub.list()[0].has_host_copy);
  EXPECT_TRUE(hub.list()[0].is_on_device);
}

// Contexts that tessera makes itself hand out textures, too, for hosts that share with them; from any thread.
TEST_P(GlesOut, WorksOnOwnContextsFromAnyThread) {
  Context& own = shared_context(GetParam());
  std::thread([&] {
    const gles::GpuData data = gles::data_to_gpu(own.tensor({6}, counted(6)), {.custom_tex_shape = TexShape{1, 2}});
    EXPECT_NE(data.texture, 0u);
    const Tensor back = gles::from_texture(own, {.texture = data.texture, .width = 2, .height = 1});
    EXPECT_THAT(back.read(), ElementsAre(0, 1, 2, 3, 4, 5, 0, 0));
  }).join();
}

TESSERA_ON_GLES_DEVICES(GlesOut);

}  // namespace
}  // namespace tessera::test::gles_out_test
