// EGLImages, and dma-bufs by way of them.
#pragma once
#include <cstdint>
#include <vector>

#include "core/interop/dma_buf.h"

namespace tessera::gles {

// For eglCreateImageKHR with EGL_LINUX_DMA_BUF_EXT.
std::vector<std::int32_t> attributes_of(const DmaBufImage&);

}  // namespace tessera::gles
