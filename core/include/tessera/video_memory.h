// Frames of video decoders, cameras and compositors as tensors, without a copy: dma-bufs of Linux, and EGLImages.
//
//   // FFmpeg's AVDRMFrameDescriptor, GStreamer's GstVideoInfoDmaDrm, V4L2 and GBM have all of this.
//   const tessera::DmaBuf frame{.width = 1920, .height = 1080, .fourcc = tessera::fourcc("NV12"),
//                               .planes = {{.fd = fd, .stride = 2048}, {.fd = fd, .offset = 2048 * 1088, .stride =
//                               2048}}};
//   const std::vector<tessera::Tensor> planes = tessera::gles::from_dma_buf(gpu, frame);   // y, and cb with cr
//   const tessera::Tensor picture = nv12_to_rgb(planes[0].reshape({1080, 1920}), planes[1]);
//
// Kernels sample the memory itself, each time that something is computed from the tensors. tessera keeps what it needs
// of the frame as long as the tensors, and neither closes nor keeps a descriptor: the host may give the frame back to
// its decoder once the work that reads it is done (gles::fence, webgpu::when_done). docs/interop_video.md has the rest.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/context.h>
#include <tessera/tensor.h>

namespace tessera {

struct DmaBufPlane {
  int fd = -1;
  std::uint32_t offset = 0, stride = 0;  // in bytes
};

struct DmaBuf {
  int width = 0, height = 0;  // in pixels
  std::uint32_t fourcc = 0;   // DRM_FORMAT_…, see drm_fourcc.h
  std::vector<DmaBufPlane> planes{};
  std::optional<std::uint64_t> modifier{};  // DRM_FORMAT_MOD_…; none: as the driver thinks best, linear mostly
};

// DRM_FORMAT_… by its letters: "NV12", "R8".
constexpr std::uint32_t fourcc(std::string_view letters) {
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < 4; ++i)
    code |= static_cast<std::uint32_t>(static_cast<unsigned char>(i < letters.size() ? letters[i] : ' ')) << (8 * i);
  return code;
}

namespace gles {

// A tensor for each plane, of 0 to 1: NV12, NV21, NV16, P010, P012 and P016 give [height,width,1] and the chroma
// [height/2,width/2,2] (NV16: [height,width/2,2]), blue first; YU12 gives three planes, AB24, AR24, XB24, XR24, R8,
// GR88, R16 and GR32 one. P010 and P012 have their bits at the upper end of 16, so that they mean the same as NV12's.
// Throws unsupported, with the reason, where the driver cannot import dma-bufs (EGL_EXT_image_dma_buf_import,
// …_modifiers), or not this one.
TESSERA_API std::vector<Tensor> from_dma_buf(Context&, const DmaBuf&, DType = DType::f32);

struct HostEglImage {
  void* image = nullptr;  // an EGLImage of the display of the context, see host_context()
  int width = 0, height = 0;
  std::string channels = "RGBA";
  DType dtype = DType::f32;  // or f16, or u8
  // For images that GL samples as GL_TEXTURE_EXTERNAL_OES only: formats of several planes, which the driver converts to
  // RGB.
  bool is_external = false;
};

// [height,width,channels] of an image, as from_texture gives them. The host may destroy the EGLImage once this returns.
TESSERA_API Tensor from_egl_image(Context&, const HostEglImage&);

}  // namespace gles

namespace webgpu {

// The same on WebGPU, by Dawn's SharedTextureMemoryDmaBuf; an adopted device has to be made with that feature, and with
// one of SharedFenceVkSemaphoreOpaqueFD and SharedFenceSyncFD. A frame without a modifier counts as linear. This waits
// until whoever fills the frame is done with it. Throws unsupported, with the reason, where the device lacks the
// features, or cannot import this frame.
TESSERA_API std::vector<Tensor> from_dma_buf(Context&, const DmaBuf&, DType = DType::f32);

}  // namespace webgpu
}  // namespace tessera
