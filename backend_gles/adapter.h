// The adapters that EGL has on this machine: ANGLE on each Vulkan driver, and the system's EGL.
//
// Each gets a display of its own, which is never terminated. ANGLE keeps the functions of the last Vulkan device it
// started in global variables, so that two drivers under one ANGLE crash: each gets an ANGLE of its own.
#pragma once
#include <memory>

#include "backend_gles/egl.h"
#include "core/kernel/backend.h"

namespace tessera::gles {

struct EglAdapter final : Adapter {
  std::unique_ptr<Backend> open(const ContextOptions&, const MessageSink&) const override;

  Display display{};
};

}  // namespace tessera::gles
