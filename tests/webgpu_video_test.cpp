// webgpu::from_dma_buf, as far as devices without Dawn's SharedTextureMemoryDmaBuf go.
#include "support/webgpu_host.h"
#include <tessera/video_memory.h>

namespace tessera::test::webgpu_video_test {
namespace {

class WebGpuVideo : public OnHost {
 protected:
  static DmaBuf frame(std::string_view format = "NV12") {
    return {.width = 60, .height = 32, .fourcc = fourcc(format), .planes = {{3, 0, 128}, {3, 4096, 128}}};
  }
};

TEST_P(WebGpuVideo, FramesThatCannotBeAreRefused) {
  for (Context* each : {gpu.get(), &context()}) {
    DmaBuf wrong = frame();
    wrong.planes.pop_back();
    EXPECT_TESSERA_ERROR(webgpu::from_dma_buf(*each, wrong), invalid_argument, "webgpu::from_dma_buf", "2 planes");
    EXPECT_TESSERA_ERROR(webgpu::from_dma_buf(*each, frame("YUYV")), unsupported, "YUYV", "NV12");
    wrong = frame();
    wrong.height = 0;
    EXPECT_TESSERA_ERROR(webgpu::from_dma_buf(*each, wrong), invalid_argument, "60 x 0");
    wrong = frame("P010");
    wrong.planes[1].stride = 64;
    EXPECT_TESSERA_ERROR(webgpu::from_dma_buf(*each, wrong), invalid_argument, "plane 1", "64", "120");
    wrong = frame();
    wrong.planes[0].fd = -1;
    EXPECT_TESSERA_ERROR(webgpu::from_dma_buf(*each, wrong), invalid_argument, "plane 0 has no file descriptor");
  }
  EXPECT_TESSERA_ERROR(webgpu::from_dma_buf(cpu_context(), frame()), wrong_backend, "webgpu::from_dma_buf");
}

TEST_P(WebGpuVideo, DevicesWithoutTheFeatureSayWhichOne) {
  const std::string name = gpu->device().name;
  EXPECT_TESSERA_ERROR(webgpu::from_dma_buf(*gpu, frame()), unsupported, "webgpu::from_dma_buf", name.c_str(),
                       "SharedTextureMemoryDmaBuf", "the host requests it");
  if (wgpuDeviceHasFeature(webgpu::host_device(context()).device, WGPUFeatureName_SharedTextureMemoryDmaBuf))
    GTEST_SKIP() << "tessera's own device has it";
  EXPECT_TESSERA_ERROR(webgpu::from_dma_buf(context(), frame("P010")), unsupported, name.c_str(),
                       "SharedTextureMemoryDmaBuf");
}

TEST_P(WebGpuVideo, DevicesOfTesserasOwnHaveTheFeatureWhereThereIsOne) {
  const WGPUDevice device = webgpu::host_device(context()).device;
  const WGPUAdapter adapter = wgpuDeviceGetAdapter(device);
  const auto has = [&](WGPUFeatureName feature) { return wgpuAdapterHasFeature(adapter, feature) != 0; };
  const bool has_fences = has(WGPUFeatureName_SharedFenceSyncFD) || has(WGPUFeatureName_SharedFenceVkSemaphoreOpaqueFD);
  EXPECT_EQ(wgpuDeviceHasFeature(device, WGPUFeatureName_SharedTextureMemoryDmaBuf) != 0,
            has(WGPUFeatureName_SharedTextureMemoryDmaBuf) && has_fences);
  wgpuAdapterRelease(adapter);
}

TESSERA_ON_WEBGPU_DEVICES(WebGpuVideo);

}  // namespace
}  // namespace tessera::test::webgpu_video_test
