// A host for the tests: an application with a WebGPU device of its own, in plain WebGPU.
#pragma once
#if TESSERA_HAS_WEBGPU
#include <webgpu/webgpu.h>

#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/devices.h"
#include <tessera/webgpu.h>

namespace tessera::test {

inline std::vector<TestDevice> webgpu_devices() {
  std::vector<TestDevice> devices;
  for (const TestDevice& device : all_devices())
    if (device.backend == BackendKind::webgpu) devices.push_back(device);
  return devices;
}
#define TESSERA_ON_WEBGPU_DEVICES(suite)                                                      \
  INSTANTIATE_TEST_SUITE_P(On, suite, ::testing::ValuesIn(::tessera::test::webgpu_devices()), \
                           ::tessera::test::device_name)

// Only the device's driver is tessera's choice. Objects that it makes live as long as it does, unless released.
class Host {
 public:
  enum class Threads { one, several };
  // With these features, as far as the driver has them.
  explicit Host(const TestDevice&, Threads = Threads::one, const std::vector<WGPUFeatureName>& features = {});
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  webgpu::HostDevice handles() const { return {instance, device}; }

  WGPUInstance instance = nullptr;
  WGPUDevice device = nullptr;
  WGPUQueue queue = nullptr;
  std::vector<std::string> errors;  // that its callback was called with
  int losses = 0;

  WGPUBuffer buffer(std::uint64_t bytes, WGPUBufferUsage, const void* contents = nullptr);
  template <class T>
  WGPUBuffer buffer(const std::vector<T>& contents, WGPUBufferUsage usage = WGPUBufferUsage_Storage) {
    return buffer(contents.size() * sizeof(T), usage, contents.data());
  }
  WGPUTexture texture(std::uint32_t width, std::uint32_t height, WGPUTextureFormat, WGPUTextureUsage,
                      const void* contents = nullptr, std::uint32_t bytes_per_pixel = 0,
                      std::uint32_t depth = 0);  // of a 3-D texture

  template <class T>
  std::vector<T> read(WGPUBuffer source, std::uint64_t offset, std::size_t count) {
    std::vector<T> values(count);
    copy_bytes(source, offset, values.data(), count * sizeof(T));
    return values;
  }
  template <class T>  // rows of pixels without gaps
  std::vector<T> read(WGPUTexture source, std::uint32_t bytes_per_pixel) {
    const std::vector<std::byte> bytes = pixels(source, bytes_per_pixel);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  WGPUCommandEncoder encoder();
  void submit(WGPUCommandEncoder);  // finishes it

  struct Binding {
    std::uint32_t index;
    WGPUBuffer buffer = nullptr;
    WGPUTextureView view = nullptr;
    std::uint64_t offset = 0, size = WGPU_WHOLE_SIZE;
  };
  // One dispatch of `main` in this WGSL.
  void compute(WGPUCommandEncoder, std::string_view wgsl, const std::vector<Binding>&, std::uint32_t groups);

  struct Draw {
    std::string_view wgsl;  // with vertex_main and fragment_main
    std::vector<Binding> bindings{};
    std::uint32_t count = 3;
    WGPUBuffer vertices = nullptr, indices = nullptr, indirect = nullptr;  // vertices: one vec2f each; indices: u32
    std::uint64_t vertices_offset = 0, indices_offset = 0, indirect_offset = 0;
  };
  // A render pass that clears the target to `clear`, or keeps what it has, and draws.
  void render(WGPUCommandEncoder, WGPUTexture target, const std::vector<Draw>&, const WGPUColor* clear = nullptr);

  WGPUTextureView view(WGPUTexture);
  void wait_for(WGPUFuture) const;

 private:
  template <class T>
  T keep(T object, void (*release)(T)) {
    releases_.push_back([=] { release(object); });
    return object;
  }
  WGPUShaderModule module(std::string_view wgsl);
  WGPUBindGroup group(WGPUBindGroupLayout, const std::vector<Binding>&);
  void copy_bytes(WGPUBuffer, std::uint64_t offset, void* to, std::uint64_t bytes);
  std::vector<std::byte> pixels(WGPUTexture, std::uint32_t bytes_per_pixel);

  std::vector<std::function<void()>> releases_;
};

// A host, and a context of tessera's on its device.
class OnHost : public OnDevice {
 protected:
  void SetUp() override;
  void TearDown() override;  // the host has seen no error

  std::unique_ptr<Host> host;
  std::unique_ptr<Context> gpu;
};

}  // namespace tessera::test
#endif
