// Pixel kernels on OpenGL ES, with bodies by hand, in a host's context whose state is checked around each run.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "backend_gles/backend.h"
#include "backend_gles/host_objects.h"
#include "backend_gles/texture_export.h"
#include "backend_gles/texture_import.h"
#include "core/interop/backend_of.h"
#include "support/gles_host.h"

namespace tessera::test {
namespace {

using gles::GlesBackend;
using gles::TextureExport;
using gles::TextureImport;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr GLenum texture_external = 0x8D65, external_binding = 0x8D67;

struct Size {
  int width, height;
};
constexpr Size odd_sizes[] = {{1, 1}, {5, 3}, {1, 9}, {7, 1}, {33, 17}};

std::size_t pixels_of(Size size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}

// The text that reads pixel (x, y) of input `k`, in elements, of an image of that many channels.
std::string pixel_in_elements(int k, int channels, const std::string& x = "x", const std::string& y = "y") {
  const char* components[] = {"0u, 0u, 0u, 0u", "0u, 1u, 0u, 1u", "0u, 1u, 2u, 2u", "0u, 1u, 2u, 3u"};
  return "input_" + std::to_string(k) + "(vec4u(u32(" + std::to_string(channels) + " * ((" + y +
         ") * ints_of_words(0).x + (" + x + ")))) + vec4u(" + components[channels - 1] + "))";
}

std::string pixel_in_texels(int k, const std::string& x = "x", const std::string& y = "y") {
  return "input_" + std::to_string(k) + "(" + x + ", " + y + ", ints_of_words(0).x)";
}

std::string let(const std::string& name, DType dtype, const std::string& value) {
  return "  let " + name + ": " + (is_float(dtype) ? "vec4f" : "vec4i") + " = " + value + ";\n";
}

class GlesPixelKernels : public OnGlesHost {
 protected:
  GlesBackend& backend(const LockedContext& locked) { return present_backend<GlesBackend>("test", *locked); }

  std::unique_ptr<Storage> allocated(const StorageSpec& spec) {
    const LockedContext locked(gpu());
    return backend(locked).allocate(spec);
  }
  std::unique_ptr<Storage> pixels(Size size, int channels, DType dtype = DType::f32) {
    const std::int64_t texels = std::int64_t{size.width} * size.height;
    return allocated({dtype, texels * channels, 0, {size.width, size.height, channels}});
  }
  // A storage for elements, all of which are something else so far, past the end too.
  std::unique_ptr<Storage> dirty(DType dtype, std::size_t elements) {
    auto storage = allocated({dtype, static_cast<std::int64_t>(elements)});
    const LockedContext locked(gpu());
    const std::vector<std::byte> ones(byte_count(whole(*storage), dtype), std::byte{1});
    backend(locked).upload(*storage, dtype, ones);
    return storage;
  }
  std::unique_ptr<Storage> uploaded(const std::vector<float>& values, DType dtype = DType::f32) {
    auto storage = allocated({dtype, static_cast<std::int64_t>(values.size())});
    std::vector<std::byte> bytes(byte_count(std::ssize(values), dtype));
    for (std::size_t i = 0; i < values.size(); ++i)
      with_element(dtype, [&]<class T>(T) {
        const T value = static_cast<T>(values[i]);
        std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
      });
    const LockedContext locked(gpu());
    backend(locked).upload(*storage, dtype, bytes);
    return storage;
  }
  // All elements that the texture has room for.
  std::vector<float> read(const Storage& storage, DType dtype = DType::f32) {
    const LockedContext locked(gpu());
    const std::int64_t count = whole(storage);
    std::vector<std::byte> bytes(byte_count(count, dtype));
    const auto download = backend(locked).download(storage, dtype, 0, count);
    download->wait();
    download->take(bytes);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
      with_element(dtype, [&]<class T>(T value) {
        std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
        values[i] = static_cast<float>(value);
      });
    return values;
  }

  struct Output {
    PixelOutput output;
    Storage* storage;
    const TextureExport* target = nullptr;
  };
  static Output in_texels(const std::unique_ptr<Storage>& storage, const std::string& value, int channels,
                          DType dtype = DType::f32) {
    return {{PixelPlace::texels, dtype, channels, value}, storage.get()};
  }
  static Output in_elements(const std::unique_ptr<Storage>& storage, const std::string& value, int channels,
                            DType dtype = DType::f32) {
    return {{PixelPlace::elements, dtype, channels, value}, storage.get()};
  }
  static Output at_host(const TextureExport& target, const std::string& value, int channels, DType dtype = DType::f32) {
    return {{PixelPlace::host, dtype, channels, value, target.type()}, nullptr, &target};
  }
  struct Input {
    PixelInput input;
    const Storage* storage;
    const HostSource* source = nullptr;
  };
  static Input texels(const std::unique_ptr<Storage>& storage, int channels, DType dtype = DType::f32) {
    return {{PixelPlace::texels, dtype, channels}, storage.get()};
  }
  static Input elements(const std::unique_ptr<Storage>& storage, DType dtype = DType::f32) {
    return {{PixelPlace::elements, dtype, 0}, storage.get()};
  }
  static Input host_source(const TextureImport& source, int channels) {
    return {{PixelPlace::host, DType::f32, channels, source.type()}, nullptr, &source};
  }

  void run(Size size, const std::string& body, const std::vector<Input>& inputs, const std::vector<Output>& outputs,
           const std::vector<float>& numbers = {}) {
    PixelKernel kernel{.label = "test kernel", .body = body};
    Dispatch dispatch{.kernel = nullptr, .output = nullptr, .output_dtype = DType::f32, .output_elements = 0};
    dispatch.words = {static_cast<std::uint32_t>(size.width), static_cast<std::uint32_t>(size.height), 0, 0};
    for (const float number : numbers) dispatch.words.push_back(std::bit_cast<std::uint32_t>(number));
    kernel.words = static_cast<int>(dispatch.words.size());
    for (const Input& input : inputs) {
      kernel.inputs.push_back(input.input);
      dispatch.inputs.push_back({.storage = input.storage, .elements = 0, .source = input.source});
    }
    for (const Output& output : outputs) {
      kernel.outputs.push_back(output.output);
      dispatch.custom_outputs.push_back(output.storage);
      if (output.target) dispatch.target = output.target;
    }
    kernel.make_key();
    dispatch.pixel_kernel = &kernel;
    const LockedContext locked(gpu());
    backend(locked).run(std::span(&dispatch, 1));
  }

  // The pixels of a storage of pixels, channel by channel.
  std::vector<float> read_pixels(Size size, const std::unique_ptr<Storage>& storage, int channels,
                                 DType dtype = DType::f32) {
    const std::size_t count = pixels_of(size) * static_cast<std::size_t>(channels);
    const auto result = dirty(DType::f32, count);
    run(size, let("v", DType::f32, pixel_in_texels(0)), {texels(storage, channels, dtype)},
        {in_elements(result, "v", channels)});
    auto values = read(*result);
    values.resize(count);
    return values;
  }

  TextureImport imported(const gles::HostTexture& host) {
    const LockedContext locked(gpu());
    const gles::Device& device = *backend(locked).own_device();
    const gles::Entered entered(device, gles::touch::texture | gles::state::draw_framebuffer);
    return {device, host, gles::traits_of(device, host, "test").texels};
  }
  template <class HostObject>
  TextureExport exported(const HostObject& host, int channels, DType dtype = DType::f32, bool flip_y = false) {
    const LockedContext locked(gpu());
    return {{dtype, host.height, host.width, channels}, gles::Target(*backend(locked).own_device(), host), flip_y};
  }

 private:
  template <class Visit>
  static void with_element(DType dtype, const Visit& visit) {
    switch (dtype) {
      case DType::f32: return visit(float{});
      case DType::f16: return visit(half{});
      case DType::i32: return visit(std::int32_t{});
      case DType::i8: return visit(std::int8_t{});
      case DType::u8:
      case DType::boolean: return visit(std::uint8_t{});
    }
  }
  static std::int64_t whole(const Storage& storage) {
    const gles::TextureStorage& texture = gles::texture_of(storage);
    return std::int64_t{4} * texture.width() * texture.height();
  }
};

std::vector<float> counted(std::size_t count, float step = 1, float first = 0) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<float>(i);
  return values;
}

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
  const auto target = exported(gles::HostTexture{.texture = texture, .width = 5, .height = 3}, 3);
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

// A kernel samples as the pass does, whatever the format and the order of channels.
TEST_P(GlesPixelKernels, HostsTexturesAreSampled) {
  const Size size{3, 2};
  std::vector<std::uint8_t> bytes(96);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{7});
  std::vector<float> floats = counted(24, 0.25f, -2);
  struct Format {
    GLenum internal, format, type;
  };
  const Format formats[] = {{GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE},
                            {GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE},
                            {GL_R8, GL_RED, GL_UNSIGNED_BYTE},
                            {GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE},
                            {GL_RGBA16F, GL_RGBA, GL_FLOAT},
                            {GL_RGBA32F, GL_RGBA, GL_FLOAT},
                            {GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE},
                            {GL_RGBA8I, GL_RGBA_INTEGER, GL_BYTE},
                            {GL_RG32I, GL_RG_INTEGER, GL_INT}};
  for (const Format& format : formats)
    for (const std::string channels : {"RGBA", "BGRA", "A", "RB", "BGR"}) {
      const void* values = format.type == GL_FLOAT ? static_cast<const void*>(floats.data()) : bytes.data();
      const GLuint texture = host().texture(format.internal, 3, 2, format.format, format.type, values);
      const gles::HostTexture in{.texture = texture, .width = 3, .height = 2, .channels = channels, .copy = true};
      const auto source = imported(in);
      const int count = static_cast<int>(channels.size());
      const auto output = dirty(DType::f32, 6 * channels.size());
      run(size, let("v", DType::f32, pixel_in_texels(0)), {host_source(source, count)},
          {in_elements(output, "v", count)});
      auto sampled = read(*output);
      sampled.resize(6 * channels.size());
      EXPECT_EQ(sampled, gles::from_texture(gpu(), in).read()) << format.internal << " " << channels;
      if (channels == "A") {  // in all four components
        run(size, let("v0", DType::f32, pixel_in_texels(0)) + let("v", DType::f32, "v0.wzyx"), {host_source(source, 1)},
            {in_elements(output, "v", 1)});
        auto reversed = read(*output);
        reversed.resize(6);
        EXPECT_EQ(reversed, sampled);
      }
    }
}

// A kernel writes as the pass does.
TEST_P(GlesPixelKernels, HostsTargetsAreWritten) {
  const Size size{3, 2};
  struct Format {
    GLenum internal, format, type;
  };
  const Format formats[] = {{GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE},
                            {GL_R8, GL_RGBA, GL_UNSIGNED_BYTE},
                            {GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE},
                            {GL_RGBA16F, GL_RGBA, GL_FLOAT},
                            {GL_RGBA32F, GL_RGBA, GL_FLOAT},
                            {GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT},
                            {GL_RGBA32I, GL_RGBA_INTEGER, GL_INT}};
  const auto bytes_of = [&](GLuint texture, const Format& format) {
    return host().pixels<std::uint32_t>(host().framebuffer(texture), 3, 2, format.format, format.type,
                                        format.type == GL_UNSIGNED_BYTE ? 1 : 4);
  };
  for (const Format& format : formats)
    for (const DType dtype : {DType::f32, DType::f16, DType::u8})
      for (const int channels : {1, 2, 3, 4})
        for (const bool flip_y : {false, true}) {
          const std::size_t count = 6 * static_cast<std::size_t>(channels);
          const auto image = dtype == DType::u8 ? counted(count, 10) : counted(count, 0.0390625f);
          const auto target = [&] {
            const GLuint texture = host().texture(format.internal, 3, 2, 0, 0, nullptr);
            return gles::HostTexture{.texture = texture, .width = 3, .height = 2};
          };
          const auto by_pass = target(), by_kernel = target();
          gles::to_texture(gpu().tensor({2, 3, channels}, image).cast(dtype), by_pass, {.flip_y = flip_y});
          const auto input = uploaded(image, dtype);
          const auto written = exported(by_kernel, channels, dtype, flip_y);
          EXPECT_EQ(written.takes_more_outputs(), !flip_y);
          run(size, let("v", dtype, pixel_in_elements(0, channels)), {elements(input, dtype)},
              {at_host(written, "v", channels, dtype)});
          EXPECT_EQ(bytes_of(by_kernel.texture, format), bytes_of(by_pass.texture, format))
              << format.internal << " " << to_string(dtype) << " " << channels << (flip_y ? " flipped" : "");
        }
}

TEST_P(GlesPixelKernels, FramebuffersAreWrittenAtACorner) {
  const GLuint texture = host().texture(GL_RGBA8, 5, 4, 0, 0, nullptr);
  const GLuint framebuffer = host().framebuffer(texture);
  const GLenum none = GL_NONE;
  const Size size{2, 3};
  const auto input = uploaded(counted(6, 10, 10), DType::u8);
  for (const bool flip_y : {false, true}) {
    gl().BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    const GLenum first = GL_COLOR_ATTACHMENT0;
    gl().DrawBuffers(1, &first);
    gl().ClearColor(0, 0, 0, 0);
    gl().Clear(GL_COLOR_BUFFER_BIT);
    gl().DrawBuffers(1, &none);
    const auto before = state_of(gl());
    const auto target = exported(gles::HostFramebuffer{framebuffer, 2, 3, 2, 1}, 1, DType::u8, flip_y);
    EXPECT_FALSE(target.takes_more_outputs());
    run(size, let("v", DType::u8, pixel_in_elements(0, 1)), {elements(input, DType::u8)},
        {at_host(target, "v", 1, DType::u8)});
    EXPECT_EQ(difference(before, state_of(gl())), "");
    const auto values = host().pixels<std::uint8_t>(framebuffer, 5, 4, GL_RGBA, GL_UNSIGNED_BYTE);
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 5; ++x) {
        const bool is_inside = x >= 2 && x < 4 && y >= 1;
        const int row = flip_y ? 3 - y : y - 1;
        EXPECT_EQ(values[static_cast<std::size_t>(4 * (5 * y + x))], is_inside ? 10 * (2 * row + x - 2) + 10 : 0)
            << x << " " << y;
      }
  }
}

TEST_P(GlesPixelKernels, TargetsKnowWhatTheyAreReadFrom) {
  const std::vector<float> values = counted(4);
  const GLuint texture = host().texture(GL_RGBA32F, 1, 1, GL_RGBA, GL_FLOAT, values.data());
  const GLuint other = host().texture(GL_RGBA32F, 1, 1, GL_RGBA, GL_FLOAT, values.data());
  const gles::HostTexture host_texture{.texture = texture, .width = 1, .height = 1};
  const auto source = imported(host_texture), another = imported({.texture = other, .width = 1, .height = 1});
  const GLuint framebuffer = host().framebuffer(other);
  gl().BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  gl().FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, GL_TEXTURE_2D, texture, 0);
  const auto as_texture = exported(host_texture, 4);
  const auto as_attachment = exported(gles::HostFramebuffer{framebuffer, 1, 1}, 4);
  EXPECT_TRUE(as_texture.reads(source));
  EXPECT_FALSE(as_texture.reads(another));
  EXPECT_TRUE(as_attachment.reads(source));
  EXPECT_TRUE(as_attachment.reads(another));
  const auto own = pixels({1, 1}, 4);
  EXPECT_FALSE(as_texture.reads(*own));
  const std::string body = let("v", DType::f32, pixel_in_texels(0));
  EXPECT_TESSERA_ERROR(run({1, 1}, body, {host_source(source, 4)}, {at_host(as_texture, "v", 4)}), invalid_argument,
                       "its own target");
  const Tensor borrowed = gles::from_texture(gpu(), host_texture);
  const LockedContext locked(gpu());
  EXPECT_TRUE(as_texture.reads(TensorAccess::node(*locked, borrowed)->value.buffer->storage()));
}

// States of further draw buffers, and external textures of further units, are a host's too.
TEST_P(GlesPixelKernels, DrawBuffersAndUnitsStayAsTheyWere) {
  GLint major = 0, minor = 0;
  gl().GetIntegerv(GL_MAJOR_VERSION, &major);
  gl().GetIntegerv(GL_MINOR_VERSION, &minor);
  const auto* extensions = reinterpret_cast<const char*>(gl().GetString(GL_EXTENSIONS));
  const bool has_extension = std::string(extensions).find("GL_OES_draw_buffers_indexed") != std::string::npos;
  if (10 * major + minor < 32 && !has_extension) GTEST_SKIP() << "this context has no states for each draw buffer";
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

TEST_P(GlesPixelKernels, ExternalTexturesAreSampled) {
  const auto create =
      host().find<EGLImage (*)(EGLDisplay, EGLContext, EGLenum, EGLClientBuffer, const EGLint*)>("eglCreateImageKHR");
  const auto* extensions = host().find<PFNEGLQUERYSTRINGPROC>("eglQueryString")(host().display(), EGL_EXTENSIONS);
  if (!gl().OES_EGL_image_external_essl3 || !gl().EGLImageTargetTexture2DOES || !create ||
      std::string(extensions).find("EGL_KHR_gl_texture_2D_image") == std::string::npos)
    GTEST_SKIP() << "this driver has no external textures, or no way to make one from a texture";
  const std::vector<std::uint8_t> bytes{0, 51, 102, 255, 255, 0, 0, 51};
  const GLuint plain = host().texture(GL_RGBA8, 2, 1, GL_RGBA, GL_UNSIGNED_BYTE, bytes.data());
  const EGLImage image = create(host().display(), host().handle(), EGL_GL_TEXTURE_2D,
                                reinterpret_cast<EGLClientBuffer>(std::uintptr_t{plain}), nullptr);
  ASSERT_NE(image, EGL_NO_IMAGE);
  GLuint names[2] = {};
  gl().GenTextures(2, names);
  gl().BindTexture(texture_external, names[0]);
  gl().EGLImageTargetTexture2DOES(texture_external, image);
  if (gl().GetError() != GL_NO_ERROR) GTEST_SKIP() << "this driver makes no external texture of a 2D texture";
  gl().BindTexture(texture_external, 0);
  gl().ActiveTexture(GL_TEXTURE1);
  gl().BindTexture(texture_external, names[1]);
  gl().ActiveTexture(GL_TEXTURE0);

  const auto source = imported({.texture = names[0], .width = 2, .height = 1, .channels = "BA", .is_external = true});
  const auto other = uploaded({10, 20, 30, 40});
  const auto output = dirty(DType::f32, 4);
  run({2, 1},
      let("v0", DType::f32, pixel_in_elements(0, 2)) + let("v1", DType::f32, pixel_in_texels(1)) +
          let("v", DType::f32, "v0 + v1"),
      {elements(other), host_source(source, 2)}, {in_elements(output, "v", 2)});
  const auto values = read(*output);
  const float expected[] = {10.4f, 21.0f, 30.0f, 40.2f};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(values[i], expected[i], 1e-5) << i;
  gl().ActiveTexture(GL_TEXTURE1);
  GLint bound = 0;
  gl().GetIntegerv(external_binding, &bound);
  EXPECT_EQ(static_cast<GLuint>(bound), names[1]);
  gl().BindTexture(texture_external, 0);
  gl().ActiveTexture(GL_TEXTURE0);
}

TEST_P(GlesPixelKernels, KernelsAreCompiledOnceAndKeptWhileInUse) {
  const Size size{3, 2};
  const auto first = pixels(size, 1), second = pixels({5, 7}, 1);
  const auto counts = [&] {
    const LockedContext locked(gpu());
    return std::pair(backend(locked).kernels_compiled(), backend(locked).kernels().kernels);
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

TEST_P(GlesPixelKernels, TellsWhatIsWrongAndWorksOn) {
  const Size size{3, 2};
  const std::string body = let("v", DType::f32, pixel_in_texels(0));
  GLuint gone = host().texture(GL_RGBA8, 3, 2, 0, 0, nullptr);
  const gles::HostTexture host_texture{.texture = gone, .width = 3, .height = 2};
  const auto source = imported(host_texture);
  const auto target = exported(host_texture, 4);
  const GLuint framebuffer = host().framebuffer(host().texture(GL_RGBA8, 3, 2, 0, 0, nullptr));
  const auto framebuffer_target = exported(gles::HostFramebuffer{framebuffer, 3, 2}, 4);
  const auto stored = pixels(size, 4), more = pixels(size, 4);
  gl().DeleteTextures(1, &gone);
  gl().DeleteFramebuffers(1, &framebuffer);
  EXPECT_TESSERA_ERROR(run(size, body, {host_source(source, 4)}, {in_texels(stored, "v", 4)}), invalid_argument,
                       "gles::from_texture", "no longer");
  EXPECT_TESSERA_ERROR(run(size, body, {texels(stored, 4)}, {at_host(target, "v", 4)}), invalid_argument,
                       "gles::to_texture", "no longer");
  EXPECT_TESSERA_ERROR(run(size, body, {texels(stored, 4)}, {at_host(framebuffer_target, "v", 4)}), invalid_argument,
                       "gles::to_texture", "no longer");
  const GLuint not_drawable = host().texture(GL_RGB9_E5, 3, 2, 0, 0, nullptr);
  const auto no_target = exported(gles::HostTexture{.texture = not_drawable, .width = 3, .height = 2}, 4);
  EXPECT_TESSERA_ERROR(run(size, body, {texels(stored, 4)}, {at_host(no_target, "v", 4)}), invalid_argument,
                       "cannot draw");
  EXPECT_TESSERA_ERROR(run(size, let("v", DType::f32, "no_such_function(x)"), {}, {in_texels(stored, "v", 4)}),
                       compile_failed, "test kernel");
  host().expect_no_error("failed kernels");
  run(size, let("v", DType::f32, "vec4f(f32(x), f32(y), 2.0, 3.0)"), {},
      {in_texels(stored, "v", 4), in_texels(more, "v", 4)});
  EXPECT_THAT(read_pixels(size, stored, 4), ElementsAreArray(read_pixels(size, more, 4)));
  EXPECT_EQ(read_pixels(size, stored, 4)[4], 1);
}

TESSERA_ON_GLES_DEVICES(GlesPixelKernels);

}  // namespace
}  // namespace tessera::test
