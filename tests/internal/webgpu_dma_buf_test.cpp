// How Dawn is told about the planes of dma-bufs, and numbers of 16 bits that come as bytes.
#include <gmock/gmock.h>

#include "backend_webgpu/backend.h"
#include "backend_webgpu/shared_texture.h"
#include "backend_webgpu/video_memory.h"
#include "core/interop/backend_of.h"
#include "support/devices.h"

namespace tessera::test::webgpu_dma_buf_test {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;
using webgpu::DmaBufMemory;
using webgpu::texture_for;

std::vector<DmaBufImage> planes_of(std::string_view format) {
  return images_of("op", {641, 363, fourcc(format), {{3, 64, 2816}, {4, 255552, 2816}}, 0x0100000000000002});
}
webgpu::DmaBufTexture texture_of(std::string_view format) {
  return texture_for(images_of("op", {64, 32, fourcc(format), {{3, 0, 256}}})[0]);
}

TEST(DmaBufsOfDawn, AreDescribed) {
  const DmaBufImage chroma = planes_of("NV12")[1];
  const DmaBufMemory memory(chroma, texture_for(chroma).fourcc);
  const WGPUSharedTextureMemoryDmaBufDescriptor& told = memory.descriptor;
  EXPECT_EQ(told.chain.sType, WGPUSType_SharedTextureMemoryDmaBufDescriptor);
  EXPECT_EQ(told.size.width, 321u);
  EXPECT_EQ(told.size.height, 182u);
  EXPECT_EQ(told.size.depthOrArrayLayers, 1u);
  EXPECT_EQ(letters_of(told.drmFormat), "GR88");
  EXPECT_EQ(told.drmModifier, 0x0100000000000002u);
  ASSERT_EQ(told.planeCount, 1u);
  EXPECT_EQ(told.planes[0].fd, 4);
  EXPECT_EQ(told.planes[0].offset, 255552u);
  EXPECT_EQ(told.planes[0].stride, 2816u);
  DmaBufImage compressed = chroma;  // with a plane of its own for how
  compressed.planes.push_back({4, 4096, 64});
  const DmaBufMemory both(compressed, compressed.fourcc);
  ASSERT_EQ(both.descriptor.planeCount, 2u);
  EXPECT_EQ(both.descriptor.planes[1].offset, 4096u);
  EXPECT_EQ(both.descriptor.planes[1].stride, 64u);
  DmaBufImage linear = chroma;
  linear.modifier.reset();
  EXPECT_EQ(DmaBufMemory(linear, linear.fourcc).descriptor.drmModifier, 0u);
}

TEST(DmaBufsOfDawn, HaveFormatsThatDawnKnows) {
  EXPECT_EQ(texture_of("R8").format, WGPUTextureFormat_R8Unorm);
  EXPECT_EQ(texture_of("GR88").format, WGPUTextureFormat_RG8Unorm);
  EXPECT_EQ(texture_of("AR24").format, WGPUTextureFormat_BGRA8Unorm);
  EXPECT_EQ(texture_of("XR24").channels, "RGB");
  EXPECT_EQ(texture_of("XB24").format, WGPUTextureFormat_RGBA8Unorm);
  EXPECT_EQ(texture_for(planes_of("NV21")[1]).channels, "GR");
  const webgpu::DmaBufTexture luma = texture_for(planes_of("P010")[0]), chroma = texture_for(planes_of("P010")[1]);
  EXPECT_EQ(letters_of(luma.fourcc), "GR88");
  EXPECT_EQ(luma.channels + luma.upper_bytes_in, "RG");
  EXPECT_EQ(letters_of(chroma.fourcc), "AB24");
  EXPECT_EQ(chroma.format, WGPUTextureFormat_RGBA8Unorm);
  EXPECT_EQ(chroma.channels + " " + chroma.upper_bytes_in, "RB GA");
}

class WebGpuDmaBufs : public OnDevice {};

// A texture with the bytes of a plane stands in for one that is imported.
class Accesses final : public HostAccess {
 public:
  void begin() override { ++begun; }
  void end() override { ++ended; }
  int begun = 0, ended = 0;
};

TEST_P(WebGpuDmaBufs, PlanesAreSampled) {
  constexpr int width = 5, height = 3;
  std::shared_ptr<webgpu::Device> device;
  {
    const LockedContext locked(context());
    device = backend_of<webgpu::WebGpuBackend>("test", *locked).own_device();
  }
  std::vector<std::uint8_t> bytes(width * height * 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 + i / 4);
  const auto plane = [&](std::string_view format, std::size_t index, std::uint32_t pixel_bytes, DType dtype) {
    const DmaBufImage image = images_of(
        "op",
        {index ? 2 * width : width, index ? 2 * height : height, fourcc(format), {{3, 0, 64}, {3, 0, 64}}})[index];
    const webgpu::DmaBufTexture as = texture_for(image);
    const webgpu::Handle texture =
        device->make_texture({width, height, 1}, WGPUTextureDimension_2D, as.format,
                             WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst, "plane");
    WGPUTexelCopyTextureInfo target{};
    target.texture = texture.get();
    target.aspect = WGPUTextureAspect_All;
    WGPUTexelCopyBufferLayout layout{};
    layout.bytesPerRow = width * pixel_bytes;
    layout.rowsPerImage = height;
    const WGPUExtent3D size{width, height, 1};
    wgpuQueueWriteTexture(device->queue(), &target, bytes.data(), width * height * pixel_bytes, &layout, &size);
    const auto accesses = std::make_shared<Accesses>();
    const Tensor tensor = webgpu::tensor_of_plane(context(), image, as, texture.get(), accesses, dtype);
    EXPECT_EQ(tensor.dtype(), dtype);
    EXPECT_EQ(accesses->begun, 0);
    const std::vector<float> values = tensor.read();
    EXPECT_EQ(accesses->begun, 1);
    EXPECT_EQ(accesses->ended, 1);
    return values;
  };
  const auto word = [&](std::size_t i) { return static_cast<float>(bytes[2 * i] + 256 * bytes[2 * i + 1]) / 65535; };
  std::vector<float> luma, chroma, swapped;
  for (std::size_t i = 0; i < width * height; ++i) luma.push_back(word(i));
  for (std::size_t i = 0; i < 2 * width * height; ++i) chroma.push_back(word(i));
  for (std::size_t i = 0; i < 2 * width * height; ++i) swapped.push_back(bytes[i ^ 1]);
  EXPECT_THAT(plane("P010", 0, 2, DType::f32), Pointwise(FloatNear(1e-6f), luma));
  EXPECT_THAT(plane("P010", 1, 4, DType::f32), Pointwise(FloatNear(1e-6f), chroma));
  EXPECT_THAT(plane("P010", 1, 4, DType::f16), Pointwise(FloatNear(1e-3f), chroma));
  EXPECT_EQ(plane("NV21", 1, 2, DType::u8), swapped);
  EXPECT_TESSERA_ERROR(plane("P010", 0, 2, DType::u8), dtype_mismatch, "0 to 255", "R16");
}

// This Dawn reads the descriptor as the header has it, and says which feature it lacks.
TEST_P(WebGpuDmaBufs, AreKnownToDawn) {
  const LockedContext locked(context());
  const auto device = backend_of<webgpu::WebGpuBackend>("test", *locked).own_device();
  if (wgpuDeviceHasFeature(device->get(), WGPUFeatureName_SharedTextureMemoryDmaBuf))
    GTEST_SKIP() << "the device has the feature";
  const DmaBufImage luma = planes_of("NV12")[0];
  DmaBufMemory memory(luma, luma.fourcc);
  EXPECT_TESSERA_ERROR(webgpu::SharedTexture(device, "dma-buf", memory.descriptor.chain, memory.descriptor.size,
                                             WGPUTextureFormat_R8Unorm, WGPUTextureUsage_TextureBinding),
                       unsupported, "Dawn refuses a dma-buf", "SharedTextureMemoryDmaBuf is not enabled");
  if (wgpuDeviceHasFeature(device->get(), WGPUFeatureName_SharedFenceSyncFD)) return;
  webgpu::ErrorScope refused(*device, WGPUErrorFilter_Validation);
  webgpu::import_sync_file(*device, 0);
  EXPECT_THAT(refused.close(), ::testing::HasSubstr("SharedFenceSyncFD is not enabled"));
}

INSTANTIATE_TEST_SUITE_P(On, WebGpuDmaBufs, ::testing::ValuesIn([] {
                           std::vector<TestDevice> devices = gpu_devices();
                           std::erase_if(devices,
                                         [](const TestDevice& each) { return each.backend != BackendKind::webgpu; });
                           return devices;
                         }()),
                         device_name);

}  // namespace
}  // namespace tessera::test::webgpu_dma_buf_test
