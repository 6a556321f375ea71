// How Dawn is told about the planes of dma-bufs, and numbers of 16 bits that come as bytes.
#include <gmock/gmock.h>

#include "backend_webgpu/backend.h"
#include "backend_webgpu/shared_texture.h"
#include "backend_webgpu/video_memory.h"
#include "core/interop/backend_of.h"
#include "support/devices.h"

namespace tessera::test {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
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

TEST_P(WebGpuDmaBufs, BytesAreJoinedToNumbersOf16Bits) {
  std::vector<float> lower, upper, expected;
  for (int number = 0; number < 65536; number += 251) {
    lower.push_back(static_cast<float>(number % 256) / 255);
    upper.push_back(static_cast<float>(number / 256) / 255);
    expected.push_back(static_cast<float>(number) / 65535);
  }
  const auto count = static_cast<std::int64_t>(expected.size());
  const Tensor low = context().tensor({count}, lower), high = context().tensor({count}, upper);
  EXPECT_THAT(webgpu::joined_bytes(low, high, DType::f32).read(), Pointwise(FloatNear(1e-7f), expected));
  EXPECT_EQ(webgpu::joined_bytes(low, high, DType::f16).dtype(), DType::f16);
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
}

INSTANTIATE_TEST_SUITE_P(On, WebGpuDmaBufs, ::testing::ValuesIn([] {
                           std::vector<TestDevice> devices = gpu_devices();
                           std::erase_if(devices,
                                         [](const TestDevice& each) { return each.backend != BackendKind::webgpu; });
                           return devices;
                         }()),
                         device_name);

}  // namespace
}  // namespace tessera::test
