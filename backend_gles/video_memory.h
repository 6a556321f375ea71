// EGLImages, and dma-bufs by way of them.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend_gles/handle.h"
#include "core/interop/dma_buf.h"

namespace tessera::gles {

// For eglCreateImageKHR with EGL_LINUX_DMA_BUF_EXT.
std::vector<std::int32_t> attributes_of(const DmaBufImage&);

// What the device's EGL lacks for dma-bufs, for people; empty where it takes them.
std::string missing_for_dma_bufs(const Device&);

// A texture over an EGLImage, for as long as it lives. It is the host's, as far as the rest of the backend is
// concerned.
using ImageTexture = Handle<GLuint, delete_one<&GladGLES2Context::DeleteTextures>>;
// Throws unsupported, with `op`, where the driver does not take the dma-buf.
ImageTexture texture_of_dma_buf(std::string_view op, const std::shared_ptr<const Device>&, const DmaBufImage&);

}  // namespace tessera::gles
