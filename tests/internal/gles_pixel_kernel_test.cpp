// Pixel kernels on OpenGL ES over tessera's own storages.
#include <gmock/gmock.h>

#include <cmath>

#include "internal/gles_pixel_kernels.h"

namespace tessera::test::gles_pixel_kernel_test {
namespace {

using ::testing::ElementsAre;

constexpr Size odd_sizes[] = {{1, 1}, {5, 3}, {1, 9}, {7, 1}, {33, 17}};

// The image with the columns in reverse order.
std::vector<float> mirrored(const std::vector<float>& image, Size size, int channels) {
  std::vector<float> result;
  for (int y = 0; y < size.height; ++y)
    for (int x = size.width - 1; x >= 0; --x)
      for (int c = 0; c < channels; ++c)
        result.push_back(image[static_cast<std::size_t>((y * size.width + x) * channels + c)]);
  return result;
}

TEST_P(GlesPixelKernels, ElementsOfAnyTypeComeFromElements) {
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean})
    for (const int channels : {1, 2, 3, 4})
      for (const Size size : odd_sizes) {
        std::vector<float> image(pixels_of(size) * static_cast<std::size_t>(channels));
        for (std::size_t i = 0; i < image.size(); ++i)
          image[i] = static_cast<float>(dtype == DType::boolean ? i % 3 == 0 : i % 127);
        const auto input = uploaded(image, dtype);
        const auto output = dirty(dtype, image.size());
        run(size, let("v", dtype, pixel_in_elements(0, channels, "ints_of_words(0).x - 1 - x")),
            {elements(input, dtype)}, {in_elements(output, "v", channels, dtype)});
        std::vector<float> expected = mirrored(image, size, channels);
        const std::vector<float> values = read(*output, dtype);
        expected.resize(values.size());  // zeros past the end
        ASSERT_EQ(values, expected) << to_string(dtype) << " " << channels << " " << size.width << " x " << size.height;
      }
}

TEST_P(GlesPixelKernels, ElementsAreReadByTexels) {
  const Size size{3, 5};
  const auto input = uploaded(counted(60, -1.5f));
  const auto output = dirty(DType::f32, 60);
  run(size, let("v", DType::f32, "input_0_texel(u32(y * ints_of_words(0).x + x)) * vec4f(floats_of_words(1).y)"),
      {elements(input)}, {in_elements(output, "v", 4)}, {0, 2});
  std::vector<float> expected = counted(60, -3);
  const std::vector<float> values = read(*output);
  expected.resize(values.size());
  EXPECT_EQ(values, expected);
}

TEST_P(GlesPixelKernels, TexelsHoldPixels) {
  for (const DType dtype : {DType::f32, DType::f16})
    for (const int channels : {1, 2, 3, 4})
      for (const Size size : odd_sizes) {
        const auto image = counted(pixels_of(size) * static_cast<std::size_t>(channels), 0.25f, -80);
        const auto input = uploaded(image);
        const auto stored = pixels(size, channels == 3 ? 4 : channels, dtype);
        run(size, let("v", DType::f32, pixel_in_elements(0, channels)), {elements(input)},
            {in_texels(stored, "v", channels, dtype)});
        ASSERT_EQ(read_pixels(size, stored, channels, dtype), image) << to_string(dtype) << " " << channels;

        // From texels to texels, over a neighbour. One channel is in all four components.
        const auto moved = pixels(size, channels == 3 ? 4 : channels, dtype);
        run(size,
            let("v0", DType::f32, pixel_in_texels(0, "ints_of_words(0).x - 1 - x")) +
                let("v1", DType::f32, channels == 1 ? "v0.wzyx" : "v0"),
            {texels(stored, channels, dtype)}, {in_texels(moved, "v1", channels, dtype)});
        ASSERT_EQ(read_pixels(size, moved, channels, dtype), mirrored(image, size, channels));
      }
}

TEST_P(GlesPixelKernels, HalvesAreRoundedToNearest) {
  const std::vector<float> values{1.00048828125f, 1.00146484375f, 0.1f,  -0.1f,      65519.0f, 65520.0f,
                                  -1e6f,          2.98e-8f,       6e-8f, 1.0009765f, INFINITY, -INFINITY};
  std::vector<float> expected;
  for (const float value : values) expected.push_back(static_cast<float>(half(value)));
  const Size size{3, 1};
  const auto input = uploaded(values);
  const auto stored = pixels(size, 4, DType::f16), listed = dirty(DType::f16, 12);
  const std::string body = let("v", DType::f32, pixel_in_elements(0, 4));
  run(size, body, {elements(input)}, {in_texels(stored, "v", 4, DType::f16)});
  EXPECT_EQ(read_pixels(size, stored, 4, DType::f16), expected);
  run(size, body, {elements(input)}, {in_elements(listed, "v", 4, DType::f16)});
  auto listed_values = read(*listed, DType::f16);
  listed_values.resize(12);
  EXPECT_EQ(listed_values, expected);
  // A body that has rounded already.
  run(size, body + let("w", DType::f32, "round_f16(v)"), {elements(input)}, {in_texels(stored, "w", 4, DType::f16)});
  EXPECT_EQ(read_pixels(size, stored, 4, DType::f16), expected);
}

TEST_P(GlesPixelKernels, OneKernelHasSeveralOutputs) {
  const Size size{5, 3};
  const auto image = counted(pixels_of(size) * 4);
  const auto input = uploaded(image);
  const auto grey = pixels(size, 1), pair = pixels(size, 2, DType::f16), whole = pixels(size, 4);
  const GLuint texture = host().texture(GL_RGBA8UI, size.width, size.height, 0, 0, nullptr);
  const auto target = exported(gles::HostTexture{.texture = texture, .width = 5, .height = 3});
  ASSERT_TRUE(target.takes_more_outputs());
  for (int frame = 0; frame < 2; ++frame)  // the framebuffer is used again
    run(size,
        let("v0", DType::f32, pixel_in_elements(0, 4)) + let("v1", DType::f32, "v0.yyyy") +
            let("v2", DType::f32, "v0 * 2.0") + let("v3", DType::f32, "v0 + vec4f(1.0)"),
        {elements(input)},
        {in_texels(grey, "v1", 1), at_host(target, "v3", 3), in_texels(pair, "v2", 2, DType::f16),
         in_texels(whole, "v0", 4)});
  std::vector<float> first, second;
  std::vector<GLuint> third;
  for (std::size_t i = 0; i < pixels_of(size); ++i) {
    first.push_back(image[4 * i + 1]);
    for (const std::size_t c : {0u, 1u}) second.push_back(2 * image[4 * i + c]);
    for (const std::size_t c : {0u, 1u, 2u}) third.push_back(static_cast<GLuint>(image[4 * i + c]) + 1);
    third.push_back(1);
  }
  EXPECT_EQ(read_pixels(size, grey, 1), first);
  EXPECT_EQ(read_pixels(size, pair, 2, DType::f16), second);
  EXPECT_EQ(read_pixels(size, whole, 4), image);
  EXPECT_EQ(host().pixels<GLuint>(host().framebuffer(texture), 5, 3, GL_RGBA_INTEGER, GL_UNSIGNED_INT), third);
}

TEST_P(GlesPixelKernels, OutputsFillEveryAttachment) {
  const Size size{4, 2};
  const int count = LockedContext(gpu())->backend->limits().pixels.max_outputs;
  ASSERT_GE(count, 4);
  std::vector<std::unique_ptr<Storage>> storages;
  std::vector<Output> outputs;
  std::string body;
  for (int i = 0; i < count; ++i) {
    const std::string value = "v" + std::to_string(i);
    storages.push_back(pixels(size, 1));
    outputs.push_back(in_texels(storages.back(), value, 1));
    body += let(value, DType::f32, "vec4f(f32(" + std::to_string(100 * i) + " + 4 * y + x))");
  }
  run(size, body, {}, outputs);
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(read_pixels(size, storages[static_cast<std::size_t>(i)], 1), counted(8, 1, 100.0f * float(i)));
}

// States of further draw buffers are a host's too.
TEST_P(GlesPixelKernels, DrawBuffersStayAsTheyWere) {
  const bool has_extension = host().has_extension("GL_OES_draw_buffers_indexed");
  if (host().version() < 32 && !has_extension) GTEST_SKIP() << "this context has no states for each draw buffer";
  const std::string suffix = has_extension ? "OES" : "";
  const auto mask =
      host().find<void (*)(GLuint, GLboolean, GLboolean, GLboolean, GLboolean)>(("glColorMaski" + suffix).c_str());
  const auto enable = host().find<void (*)(GLenum, GLuint)>(("glEnablei" + suffix).c_str());
  const auto is_enabled = host().find<GLboolean (*)(GLenum, GLuint)>(("glIsEnabledi" + suffix).c_str());
  mask(0, GL_TRUE, GL_FALSE, GL_TRUE, GL_TRUE);
  mask(1, GL_FALSE, GL_FALSE, GL_TRUE, GL_FALSE);
  enable(GL_BLEND, 2);
  gl().BlendFunc(GL_ZERO, GL_ZERO);
  const Size size{3, 2};
  const auto first = pixels(size, 4), second = pixels(size, 4), third = pixels(size, 4);
  run(size, let("v", DType::f32, "vec4f(f32(x), f32(y), 5.0, 7.0)"), {},
      {in_texels(first, "v", 4), in_texels(second, "v", 4), in_texels(third, "v", 4)});
  for (const auto* storage : {&first, &second, &third}) {
    const auto values = read_pixels(size, *storage, 4);
    EXPECT_EQ(values[4], 1);
    EXPECT_EQ(values[13], 1);
    EXPECT_EQ(values[2], 5);
    EXPECT_EQ(values[23], 7);
  }
  GLint colors[4] = {};
  gl().GetIntegeri_v(GL_COLOR_WRITEMASK, 0, colors);
  EXPECT_THAT(colors, ElementsAre(1, 0, 1, 1));
  gl().GetIntegeri_v(GL_COLOR_WRITEMASK, 1, colors);
  EXPECT_THAT(colors, ElementsAre(0, 0, 1, 0));
  EXPECT_FALSE(is_enabled(GL_BLEND, 1));
  EXPECT_TRUE(is_enabled(GL_BLEND, 2));
}

TEST_P(GlesPixelKernels, KernelsAreCompiledOnceAndKeptWhileInUse) {
  const Size size{3, 2};
  const auto first = pixels(size, 1), second = pixels({5, 7}, 1);
  const auto counts = [&] {
    const LockedContext locked(gpu());
    return std::pair(backend(locked).kernel_origins().compiled, backend(locked).kernels().kernels);
  };
  {
    const LockedContext locked(gpu());
    backend(locked).trim();
  }
  const auto before = counts();
  const std::string body = let("v", DType::f32, "vec4f(f32(x) + 0.125)");
  KernelUses uses;
  {
    PixelKernel kernel{.label = "test kernel", .body = body};
    kernel.words = 4;
    kernel.outputs.push_back({PixelPlace::texels, DType::f32, 1, "v"});
    kernel.make_key();
    Dispatch dispatch{.kernel = nullptr, .output = nullptr, .output_dtype = DType::f32, .output_elements = 0};
    dispatch.pixel_kernel = &kernel;
    dispatch.uses = &uses;
    const LockedContext locked(gpu());
    backend(locked).prepare(dispatch);
  }
  EXPECT_EQ(counts().first, before.first + 1);
  run(size, body, {}, {in_texels(first, "v", 1)});
  run({5, 7}, body, {}, {in_texels(second, "v", 1)});
  EXPECT_EQ(counts().first, before.first + 1);
  for (const bool is_used : {true, false}) {
    if (!is_used) uses.clear();
    const LockedContext locked(gpu());
    backend(locked).trim();
    EXPECT_EQ(backend(locked).kernels().kernels, is_used ? 1u : 0u);
  }
}

TESSERA_ON_GLES_DEVICES(GlesPixelKernels);

}  // namespace
}  // namespace tessera::test::gles_pixel_kernel_test
