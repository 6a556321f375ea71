// Pixel kernels with bodies by hand, run by the backend of a context that a host lent. The context's state is checked
// around each run.
#pragma once
#include <bit>
#include <cstring>

#include "backend_gles/backend.h"
#include "backend_gles/host_objects.h"
#include "backend_gles/texture_export.h"
#include "backend_gles/texture_import.h"
#include "core/interop/backend_of.h"
#include "support/gles_host.h"

namespace tessera::test {

using gles::GlesBackend;
using gles::TextureExport;
using gles::TextureImport;

struct Size {
  int width, height;
};

inline std::size_t pixels_of(Size size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}

// The text that reads pixel (x, y) of input `k`, in elements, of an image of that many channels.
inline std::string pixel_in_elements(int k, int channels, const std::string& x = "x", const std::string& y = "y") {
  const char* components[] = {"0u, 0u, 0u, 0u", "0u, 1u, 0u, 1u", "", "0u, 1u, 2u, 3u"};
  const std::string input = "input_" + std::to_string(k),
                    first = "u32(" + std::to_string(channels) + " * ((" + y + ") * ints_of_words(0).x + (" + x + ")))";
  if (channels == 3) return input + "_three(" + first + ")";
  return input + "(vec4u(" + first + ") + vec4u(" + components[channels - 1] + "))";
}

inline std::string pixel_in_texels(int k, const std::string& x = "x", const std::string& y = "y") {
  return "input_" + std::to_string(k) + "(" + x + ", " + y + ", ints_of_words(0).x)";
}

inline std::string let(const std::string& name, DType dtype, const std::string& value) {
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
    backend(locked).run(std::span(&dispatch, 1), std::nullopt);
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
    const gles::Entered entered(device);
    return {host, gles::traits_of(device, host, "test"), HostValue::floats};
  }
  template <class HostObject>
  TextureExport exported(const HostObject& host, bool flip_y = false) {
    const LockedContext locked(gpu());
    return {gles::Target(*backend(locked).own_device(), host), flip_y};
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

inline std::vector<float> counted(std::size_t count, float step = 1, float first = 0) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<float>(i);
  return values;
}

}  // namespace tessera::test
