// Pixel kernels with bodies by hand: all places that pixels come from and go to.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "backend_webgpu/backend.h"
#include "backend_webgpu/host_texture.h"
#include "core/base/sizes.h"
#include "core/run/context_impl.h"
#include "support/webgpu_host.h"

namespace tessera::test::webgpu_pixels_test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAreArray;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using webgpu::TextureSource;
using webgpu::TextureTarget;

struct Size {
  std::int64_t width, height;
  std::int64_t pixels() const { return width * height; }
};
// Rows shorter and longer than a workgroup, and every number of elements in the last texel.
constexpr std::array sizes{Size{1, 1}, Size{2, 1}, Size{3, 1}, Size{5, 3}, Size{1, 9}, Size{64, 2}, Size{67, 5}};

struct Image {
  std::unique_ptr<Storage> storage;
  DType dtype;
  std::int64_t elements;
};

std::vector<std::uint32_t> words_for(const Size& size, const std::vector<float>& numbers = {}) {
  std::vector<std::uint32_t> words{word_of(size.width), word_of(size.height), 0, 0};
  for (const float number : numbers) words.push_back(std::bit_cast<std::uint32_t>(number));
  return words;
}

// v0: the pixel of input 0, which has its elements in order.
std::string own_elements(DType dtype, int channels) {
  const std::string c = std::to_string(channels), type = is_float(dtype) ? "vec4f" : "vec4i";
  const std::string pixel = "(y * ints_of_words(0).x + x)";
  if (channels == 4) return "let v0: " + type + " = input_0_texel(u32" + pixel + ");\n";
  if (channels == 3) return "let v0: " + type + " = input_0_three(u32(" + pixel + " * 3));\n";
  return "let last: u32 = u32(ints_of_words(0).x * ints_of_words(0).y * " + c + " - 1);\n" +
         "let element: vec4u = min(vec4u(u32(" + pixel + " * " + c + ")) + vec4u(0u, " +
         (channels == 1 ? "0u, 0u, 0u" : "1u, 2u, 3u") + "), vec4u(last));\n" + "let v0: " + type +
         " = input_0(element);\n";
}

TexturePart whole(WGPUTexture texture) { return checked_part("test", {}, webgpu::extent_of(texture, 0)); }
std::shared_ptr<TextureSource> texture_source(WGPUTexture texture, const std::string& channels) {
  return std::make_shared<TextureSource>(texture, channels, whole(texture));
}
std::shared_ptr<TextureTarget> texture_target(WGPUTexture texture, bool flip_y) {
  return std::make_shared<TextureTarget>(texture, whole(texture), flip_y);
}

class WebGpuPixels : public OnHost {
 protected:
  Backend& backend() { return *LockedContext(*gpu)->backend; }

  template <class T>
  Image elements(const std::vector<T>& values, DType dtype = dtype_of<T>()) {
    Image image = empty(dtype, std::ssize(values));
    backend().upload(*image.storage, dtype, std::as_bytes(std::span(values)));
    return image;
  }
  Image empty(DType dtype, std::int64_t count, PixelLayout pixels = {}) {
    pixels.is_half = pixels.channels > 0 && dtype == DType::f16;
    return {backend().allocate({.dtype = dtype, .elements = count, .pixels = pixels}), dtype, count};
  }
  Image dirty(DType dtype, std::int64_t count) {  // every byte is 0xff, up to the end of the last texel
    const std::int64_t all = 4 * texel_count(count);
    Image image = empty(dtype, all);
    backend().upload(*image.storage, dtype, std::vector(byte_count(all, dtype), std::byte{0xff}));
    image.elements = count;
    return image;
  }

  // The elements up to the end of the last texel.
  template <class T>
  std::vector<T> read(const Image& image) {
    std::vector<T> values(static_cast<std::size_t>(4 * texel_count(image.elements)));
    const auto download = backend().download(*image.storage, image.dtype, 0, std::ssize(values));
    download->wait();
    download->take(std::as_writable_bytes(std::span(values)));
    return values;
  }

  static PixelKernel kernel(std::string body, std::vector<PixelInput> inputs, std::vector<PixelOutput> outputs,
                            int words = 4) {
    PixelKernel made{
        .label = "by hand", .body = std::move(body), .inputs = std::move(inputs), .outputs = std::move(outputs)};
    made.words = words;
    made.make_key();
    return made;
  }

  static Dispatch dispatch(const PixelKernel& of, const Size& size, std::vector<BoundInput> inputs,
                           std::vector<Storage*> outputs, const std::vector<float>& numbers = {}) {
    Dispatch made{};
    made.pixel_kernel = &of;
    made.inputs = std::move(inputs);
    made.custom_outputs = std::move(outputs);
    made.words = words_for(size, numbers);
    return made;
  }
  static BoundInput bound(const Image& image) { return {image.storage.get(), image.elements}; }
  static BoundInput bound(const HostSource& source) { return {.storage = nullptr, .elements = 0, .source = &source}; }
  void run(const Dispatch& dispatch) { backend().run(std::span(&dispatch, 1), std::nullopt); }

  template <Element T>
  void doubles_elements(const Size& size, int channels) {
    const DType dtype = dtype_of<T>();
    std::vector<T> values, expected;
    for (std::int64_t i = 0; i < size.pixels() * channels; ++i) {
      values.push_back(T(static_cast<float>(i % 61) - (dtype == DType::u8 ? 0.0f : 30.0f)));
      expected.push_back(T(2.0f * static_cast<float>(values.back())));
    }
    expected.resize(static_cast<std::size_t>(4 * texel_count(std::ssize(expected))));
    const Image input = elements(values), output = dirty(dtype, std::ssize(values));
    const std::string type = is_float(dtype) ? "vec4f" : "vec4i";
    const PixelKernel twice =
        kernel(own_elements(dtype, channels) + "let v1: " + type + " = v0 + v0;\n",
               {{PixelPlace::elements, dtype, channels}}, {{PixelPlace::elements, dtype, channels, "v1"}});
    run(dispatch(twice, size, {bound(input)}, {output.storage.get()}));
    const std::vector<T> made = read<T>(output);
    for (std::size_t i = 0; i < made.size(); ++i)
      ASSERT_EQ(static_cast<float>(made[i]), static_cast<float>(expected[i]))
          << to_string(dtype) << " " << size.width << " x " << size.height << " x " << channels << ", element " << i;
  }

  // The pixels of an image in texels, from elements; and the elements of the pixel to the right of each, clamped.
  Image texels(const std::vector<float>& values, DType dtype, const Size& size, int channels) {
    const Image source = elements(values);
    Image image = empty(dtype, std::ssize(values), {size.width, size.height, channels});
    const PixelKernel into = kernel(own_elements(DType::f32, channels), {{PixelPlace::elements, DType::f32, channels}},
                                    {{PixelPlace::texels, dtype, channels, "v0"}});
    run(dispatch(into, size, {bound(source)}, {image.storage.get()}));
    return image;
  }
};

TEST_P(WebGpuPixels, ElementsOfEveryType) {
  for (const Size& size : sizes)
    for (int channels = 1; channels <= 4; ++channels) {
      doubles_elements<float>(size, channels);
      doubles_elements<half>(size, channels);
      doubles_elements<std::int32_t>(size, channels);
      doubles_elements<std::int8_t>(size, channels);
      doubles_elements<std::uint8_t>(size, channels);
    }
}

TEST_P(WebGpuPixels, BooleansAreIntegers) {
  const std::vector<std::uint8_t> values{1, 0, 0, 1, 1, 1, 0, 1, 0}, opposite{0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0};
  const Image input = elements(values, DType::boolean), output = dirty(DType::boolean, 9);
  const PixelKernel negated =
      kernel(own_elements(DType::boolean, 3) + "let v1: vec4i = vec4i(1) - v0;\n",
             {{PixelPlace::elements, DType::boolean, 3}}, {{PixelPlace::elements, DType::boolean, 3, "v1"}});
  run(dispatch(negated, {3, 1}, {bound(input)}, {output.storage.get()}));
  EXPECT_EQ(read<std::uint8_t>(output), opposite);
}

TEST_P(WebGpuPixels, TexelsAreReadByTheirPlaces) {
  for (const Size& size : sizes)
    for (const int channels : {1, 2, 4})
      for (const DType dtype : {DType::f32, DType::f16}) {
        std::vector<float> values(static_cast<std::size_t>(size.pixels() * channels)), expected;
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 3 - 40;
        for (std::int64_t y = 0; y < size.height; ++y)
          for (std::int64_t x = 0; x < size.width; ++x)
            for (std::int64_t c = 0; c < channels; ++c) {
              const std::int64_t pixel = y * size.width + std::min(x + 1, size.width - 1);
              const float value = values[static_cast<std::size_t>(pixel * channels + c)];
              expected.push_back(dtype == DType::f16 ? static_cast<float>(half(value)) : value);
            }
        expected.resize(static_cast<std::size_t>(4 * texel_count(std::ssize(expected))));
        const Image image = texels(values, dtype, size, channels);
        const Image result = dirty(DType::f32, std::ssize(values));
        const PixelKernel right = kernel(
            "let x1: i32 = min(x + 1, ints_of_words(0).x - 1);\n"
            "let v0: vec4f = input_0(x1, y, ints_of_words(0).x);\n",
            {{PixelPlace::texels, dtype, channels}}, {{PixelPlace::elements, DType::f32, channels, "v0"}});
        run(dispatch(right, size, {bound(image)}, {result.storage.get()}));
        ASSERT_THAT(read<float>(result), ElementsAreArray(expected))
            << to_string(dtype) << " " << size.width << " x " << size.height << " x " << channels;
      }
}

TEST_P(WebGpuPixels, HalvesAreRoundedToTheNearest) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{1.00048828f, 1.0014648f, -65519, 65520, infinity, -infinity, 6e-8f, -2e-8f};
  std::vector<float> expected;
  for (const float value : values) expected.push_back(half(value));
  for (const int channels : {1, 2, 4}) {
    const Size size{std::ssize(values) / channels, 1};
    const Image image = texels(values, DType::f16, size, channels);
    const Image result = empty(DType::f32, std::ssize(values));
    const PixelKernel copy =
        kernel("let v0: vec4f = input_0(x, y, ints_of_words(0).x);\n", {{PixelPlace::texels, DType::f16, channels}},
               {{PixelPlace::elements, DType::f32, channels, "v0"}});
    run(dispatch(copy, size, {bound(image)}, {result.storage.get()}));
    EXPECT_THAT(read<float>(result), ElementsAreArray(expected)) << channels;
  }
}

TEST_P(WebGpuPixels, ASingleChannelIsInAllComponents) {
  const Size size{3, 2};
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  std::vector<float> expected;
  for (const float value : values) expected.insert(expected.end(), 4, value);
  const Image image = texels(values, DType::f32, size, 1), result = empty(DType::f32, 24);
  const PixelKernel copy = kernel("let v0: vec4f = input_0(x, y, ints_of_words(0).x);\n",
                                  {{PixelPlace::texels, DType::f32, 1}}, {{PixelPlace::elements, DType::f32, 4, "v0"}});
  run(dispatch(copy, size, {bound(image)}, {result.storage.get()}));
  EXPECT_THAT(read<float>(result), ElementsAreArray(expected));
}

TEST_P(WebGpuPixels, NumbersAreWordsAndFunctionsOfThePointwiseTableCanBeCalled) {
  const Size size{5, 2};
  const Image result = empty(DType::f32, 10);
  const PixelKernel made = kernel(
      "let v0: vec4f = vec4f(f32(10 * y + x)) * vec4f(floats_of_words(1).y);\n"
      "let v1: vec4f = opaque(sigmoid(v0), 1u) + vec4f(floats_of_words(1).x);\n",
      {}, {{PixelPlace::elements, DType::f32, 1, "v1"}}, 6);
  run(dispatch(made, size, {}, {result.storage.get()}, {2, -0.25f}));
  const std::vector<float> values = read<float>(result);
  for (int i = 0; i < 10; ++i)
    EXPECT_NEAR(values[static_cast<std::size_t>(i)], 2 + 1 / (1 + std::exp(0.25f * float(i / 5 * 10 + i % 5))), 1e-6);
}

TEST_P(WebGpuPixels, ASingleChannelOfATextureIsInAllComponents) {
  const std::vector<std::uint8_t> bytes{0, 51, 102, 255};
  const WGPUTexture texture = host->texture(
      1, 1, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst, bytes.data(), 4);
  const auto source = texture_source(texture, "B");
  const Image result = empty(DType::f32, 4);
  const PixelKernel copy =
      kernel("let v0: vec4f = input_0(x, y, 1);\n", {{PixelPlace::host, DType::f32, 1, source->type()}},
             {{PixelPlace::elements, DType::f32, 4, "v0"}});
  run(dispatch(copy, {1, 1}, {bound(*source)}, {result.storage.get()}));
  EXPECT_THAT(read<float>(result), Each(FloatEq(0.4f)));
}

// A sum of a texture and a tensor, drawn upside down, and beside it what others read.
TEST_P(WebGpuPixels, SeveralOutputsBesideAFlippedTarget) {
  const Size size{7, 5};
  std::vector<std::uint8_t> bytes(7 * 5 * 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  const WGPUTexture texture = host->texture(
      7, 5, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst, bytes.data(), 4);
  const auto source = texture_source(texture, "RGBA");
  for (const WGPUTextureUsage usage : {WGPUTextureUsage_RenderAttachment, WGPUTextureUsage_StorageBinding}) {
    const WGPUTexture drawn = host->texture(7, 5, WGPUTextureFormat_RGBA8Unorm, usage | WGPUTextureUsage_CopySrc);
    const auto target = texture_target(drawn, true);
    EXPECT_TRUE(target->takes_more_outputs());
    const Image kept = empty(DType::f16, 7 * 5 * 4, {7, 5, 4}), sums = dirty(DType::f32, 7 * 5 * 3);
    const PixelKernel made = kernel(
        "let v0: vec4f = input_0(x, y, ints_of_words(0).x);\nlet v1: vec4f = v0 + vec4f(floats_of_words(1).x);\n",
        {{PixelPlace::host, DType::f32, 4, source->type()}},
        {{PixelPlace::texels, DType::f16, 4, "v1"},
         {PixelPlace::host, DType::f32, 4, "v0", target->type()},
         {PixelPlace::elements, DType::f32, 3, "v1"}},
        5);
    Dispatch step = dispatch(made, size, {bound(*source)}, {kept.storage.get(), nullptr, sums.storage.get()}, {1});
    step.target = target.get();
    run(step);
    const std::vector<std::uint8_t> picture = host->read<std::uint8_t>(drawn, 4);
    for (std::size_t y = 0; y < 5; ++y)
      for (std::size_t i = 0; i < 28; ++i) EXPECT_EQ(picture[(4 - y) * 28 + i], bytes[y * 28 + i]) << y << " " << i;
    const std::vector<float> values = read<float>(sums);
    for (std::size_t i = 0; i < 105; ++i)
      EXPECT_FLOAT_EQ(values[i], 1 + static_cast<float>(bytes[i / 3 * 4 + i % 3]) / 255);
    for (std::size_t i = 105; i < values.size(); ++i) EXPECT_EQ(values[i], 0);

    const Image read_again = empty(DType::f32, 7 * 5 * 4);
    const PixelKernel copy =
        kernel("let v0: vec4f = input_0(x, y, ints_of_words(0).x);\n", {{PixelPlace::texels, DType::f16, 4}},
               {{PixelPlace::elements, DType::f32, 4, "v0"}});
    run(dispatch(copy, size, {bound(kept)}, {read_again.storage.get()}));
    const std::vector<float> halves = read<float>(read_again);
    for (std::size_t i = 0; i < halves.size(); ++i)
      EXPECT_EQ(halves[i], static_cast<float>(half(1 + static_cast<float>(bytes[i]) / 255))) << i;
  }
}

TEST_P(WebGpuPixels, ATargetKnowsTheSourceThatIsItsTexture) {
  const WGPUTextureUsage usage = WGPUTextureUsage_TextureBinding | WGPUTextureUsage_RenderAttachment;
  const WGPUTexture one = host->texture(2, 2, WGPUTextureFormat_RGBA8Unorm, usage);
  const WGPUTexture other = host->texture(2, 2, WGPUTextureFormat_RGBA8Unorm, usage);
  const auto target = texture_target(one, false);
  EXPECT_TRUE(target->reads(*texture_source(one, "RG")));
  EXPECT_FALSE(target->reads(*texture_source(other, "RGBA")));
}

TEST_P(WebGpuPixels, CompileOnceAndStayAsLongAsAProgramRelies) {
  const Size size{3, 3};
  const Image result = empty(DType::f32, 9);
  const PixelKernel made =
      kernel("let v0: vec4f = vec4f(f32(x));\n", {}, {{PixelPlace::elements, DType::f32, 1, "v0"}});
  Dispatch step = dispatch(made, size, {}, {result.storage.get()});
  KernelUses uses;
  step.uses = &uses;
  const std::uint64_t before = backend().kernel_origins().compiled;
  backend().prepare(step);
  for (int i = 0; i < 20; ++i) run(step);
  EXPECT_EQ(backend().kernel_origins().compiled, before + 1);
  EXPECT_EQ(uses.size(), 1u);
  backend().trim();
  run(step);
  EXPECT_EQ(backend().kernel_origins().compiled, before + 1) << "a program relies on it";
  uses.clear();
  backend().trim();
  EXPECT_EQ(backend().kernels().kernels, 0u);
  EXPECT_EQ(backend().kernels().text_bytes, 0u);
  run(step);
  EXPECT_EQ(backend().kernel_origins().compiled, before + 2);
}

TEST_P(WebGpuPixels, AreLoggedWithTheirLabelsAndTexts) {
  std::string log;
  Context context = webgpu::adopt(host->handles(), {.on_message = [&](const Message& message) { log += message.text; },
                                                    .message_level = Message::Level::debug,
                                                    .log_shaders = true});
  const PixelKernel made = kernel("let v0: vec4f = vec4f(7.25);\n", {}, {{PixelPlace::elements, DType::f32, 1, "v0"}});
  {
    const LockedContext locked(context);
    locked->backend->prepare(dispatch(made, {1, 1}, {}, {}));
  }
  EXPECT_THAT(log, AllOf(HasSubstr("compile: kernel by hand"), HasSubstr("vec4f(7.25)")));
}

TEST_P(WebGpuPixels, RunAmongOtherDispatchesAndInTheHostsCommands) {
  const Size size{4, 2};
  const Image first = empty(DType::f32, 8, {4, 2, 1}), second = empty(DType::f32, 8, {4, 2, 1}),
              result = empty(DType::f32, 8);
  const WGPUTexture drawn =
      host->texture(4, 2, WGPUTextureFormat_R32Float, WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc);
  const auto target = texture_target(drawn, false);
  const PixelKernel ramp =
      kernel("let v0: vec4f = vec4f(f32(10 * y + x));\n", {}, {{PixelPlace::texels, DType::f32, 1, "v0"}});
  const PixelKernel next = kernel("let v0: vec4f = input_0(x, y, ints_of_words(0).x) + vec4f(1.0);\n",
                                  {{PixelPlace::texels, DType::f32, 1}}, {{PixelPlace::texels, DType::f32, 1, "v0"}});
  const PixelKernel draw =
      kernel("let v0: vec4f = input_0(x, y, ints_of_words(0).x);\n", {{PixelPlace::texels, DType::f32, 1}},
             {{PixelPlace::host, DType::f32, 1, "v0", target->type()}, {PixelPlace::elements, DType::f32, 1, "v0"}});
  std::vector<Dispatch> steps{dispatch(ramp, size, {}, {first.storage.get()}),
                              dispatch(next, size, {bound(first)}, {second.storage.get()}),
                              dispatch(draw, size, {bound(second)}, {nullptr, result.storage.get()})};
  steps[2].target = target.get();
  const std::vector<float> expected{1, 2, 3, 4, 11, 12, 13, 14};
  auto& own = static_cast<webgpu::WebGpuBackend&>(backend());
  const WGPUCommandEncoder commands = host->encoder();
  own.record_into(commands);
  own.run(steps, std::nullopt);
  own.record_into(nullptr);
  host->submit(commands);
  own.submitted();
  EXPECT_EQ(host->read<float>(drawn, 4), expected);
  EXPECT_EQ(read<float>(result), expected);
}

TEST_P(WebGpuPixels, AreTimed) {
  Host timed(GetParam(), Host::Threads::one, {WGPUFeatureName_TimestampQuery});
  {
    Context context = webgpu::adopt(timed.handles());
    Backend& device = *LockedContext(context)->backend;
    if (!device.can_time()) GTEST_SKIP() << "the driver has no timestamps";
    const WGPUTexture drawn = timed.texture(4, 2, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_RenderAttachment);
    const auto target = texture_target(drawn, false);
    const auto result = device.allocate({DType::f32, 8});
    const std::string ramp = "let v0: vec4f = vec4f(f32(x));\n";
    const PixelKernel draw = kernel(ramp, {}, {{PixelPlace::host, DType::f32, 1, "v0", target->type()}});
    const PixelKernel compute = kernel(ramp, {}, {{PixelPlace::elements, DType::f32, 1, "v0"}});
    std::vector<Dispatch> steps{dispatch(draw, {4, 2}, {}, {nullptr}), dispatch(compute, {4, 2}, {}, {result.get()})};
    steps[0].target = target.get();
    device.run(steps, 0);  // a driver may count its first run from the start of the machine
    device.run(steps, 1);
    const std::vector<TimedRun> times = device.take_times(true);
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(times[1].times.size(), 2u);
  }
  EXPECT_THAT(timed.errors, ::testing::IsEmpty());
}

TEST_P(WebGpuPixels, ATextureThatTheHostDestroyedIsAnErrorAndNoMore) {
  const Size size{2, 2};
  const WGPUTextureUsage usage =
      WGPUTextureUsage_TextureBinding | WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc;
  const WGPUTexture texture = host->texture(2, 2, WGPUTextureFormat_RGBA8Unorm, usage);
  const WGPUTexture target_texture = host->texture(2, 2, WGPUTextureFormat_RGBA8Unorm, usage);
  const auto source = texture_source(texture, "RGBA");
  const auto target = texture_target(target_texture, false);
  const Image result = empty(DType::f32, 16);
  const std::string body = "let v0: vec4f = input_0(x, y, ints_of_words(0).x) + vec4f(0.5);\n";
  const std::vector<PixelInput> inputs{{PixelPlace::host, DType::f32, 4, source->type()}};
  const PixelKernel reading = kernel(body, inputs, {{PixelPlace::elements, DType::f32, 4, "v0"}});
  const PixelKernel drawing = kernel(body, inputs, {{PixelPlace::host, DType::f32, 4, "v0", target->type()}});
  const Dispatch read_it = dispatch(reading, size, {bound(*source)}, {result.storage.get()});
  Dispatch draw_it = dispatch(drawing, size, {bound(*source)}, {nullptr});
  draw_it.target = target.get();
  run(read_it);
  run(draw_it);
  wgpuTextureDestroy(target_texture);
  EXPECT_TESSERA_ERROR(run(draw_it), invalid_argument, "host", "estroyed");
  run(read_it);
  EXPECT_THAT(read<float>(result), Each(0.5f));
  wgpuTextureDestroy(texture);
  EXPECT_TESSERA_ERROR(run(read_it), invalid_argument, "host", "estroyed");
  EXPECT_TESSERA_ERROR(run(read_it), invalid_argument, "host", "estroyed");
  EXPECT_THAT((gpu->full({3}, 1) + 1.0f).read(), Each(2.0f));
}

TEST_P(WebGpuPixels, ABodyThatDoesNotCompileIsAnErrorWithItsLabel) {
  const Image result = empty(DType::f32, 4);
  const PixelKernel wrong =
      kernel("let v0: vec4f = no_such_function(x);\n", {}, {{PixelPlace::elements, DType::f32, 1, "v0"}});
  EXPECT_TESSERA_ERROR(run(dispatch(wrong, {2, 2}, {}, {result.storage.get()})), compile_failed, "by hand",
                       "no_such_function");
  EXPECT_THAT((gpu->full({3}, 1) + 1.0f).read(), Each(2.0f));
}

TEST_P(WebGpuPixels, TexturesThatComeAndGoAreToldApart) {
  const Size size{1, 1};
  const Image result = empty(DType::f32, 4);
  const PixelKernel copy =
      kernel("let v0: vec4f = input_0(x, y, 1);\n", {{PixelPlace::host, DType::f32, 4, "f32 rgba"}},
             {{PixelPlace::elements, DType::f32, 4, "v0"}});
  for (int i = 0; i < 50; ++i) {
    WGPUTextureDescriptor descriptor{};
    descriptor.usage = WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst;
    descriptor.dimension = WGPUTextureDimension_2D;
    descriptor.size = {1, 1, 1};
    descriptor.format = WGPUTextureFormat_RGBA32Float;
    descriptor.mipLevelCount = 1;
    descriptor.sampleCount = 1;
    const webgpu::Handle texture(wgpuDeviceCreateTexture(host->device, &descriptor));
    const std::vector<float> colour(4, static_cast<float>(i));
    WGPUTexelCopyTextureInfo to{};
    to.texture = texture.get();
    to.aspect = WGPUTextureAspect_All;
    WGPUTexelCopyBufferLayout layout{};
    layout.bytesPerRow = 16;
    layout.rowsPerImage = 1;
    wgpuQueueWriteTexture(host->queue, &to, colour.data(), 16, &layout, &descriptor.size);
    const auto source = texture_source(texture.get(), "RGBA");
    run(dispatch(copy, size, {bound(*source)}, {result.storage.get()}));
    EXPECT_THAT(read<float>(result), ElementsAreArray(colour));
  }
}

TESSERA_ON_WEBGPU_DEVICES(WebGpuPixels);

}  // namespace
}  // namespace tessera::test::webgpu_pixels_test
