// The backends of this build, and which of them a context gets.
#include <optional>

#include "backend_cpu/cpu_backend.h"
#include "core/context_impl.h"
#if TESSERA_HAS_WEBGPU
#include "backend_webgpu/webgpu_backend.h"
#endif
#if TESSERA_HAS_GLES
#include "backend_gles/gles_backend.h"
#endif

namespace tessera {
namespace {

// Nothing where the build leaves the backend out.
std::optional<BackendFactory> factory_of(BackendKind kind) {
  switch (kind) {
#if TESSERA_HAS_WEBGPU
    case BackendKind::webgpu: return webgpu::factory();
#endif
#if TESSERA_HAS_GLES
    case BackendKind::gles: return gles::factory();
#endif
    case BackendKind::cpu: return cpu::factory();
    default: return std::nullopt;
  }
}

}  // namespace

std::vector<DeviceInfo> Context::devices() {
  std::vector<DeviceInfo> all;
  for (const BackendKind kind : {BackendKind::webgpu, BackendKind::gles, BackendKind::cpu}) {
    const auto factory = factory_of(kind);
    if (!factory) continue;
    for (DeviceInfo& device : factory->devices()) all.push_back(std::move(device));
  }
  return all;
}

std::unique_ptr<Backend> open_backend(const ContextOptions& options, const MessageSink& sink) {
  if (options.prefer.empty())
    throw Error(ErrorCode::invalid_argument, "create: the list of preferred backends is empty.");
  std::string reasons;
  for (const BackendKind kind : options.prefer) {
    std::string reason;
    if (const auto factory = factory_of(kind)) {
      try {
        auto backend = factory->create(options.driver, sink);
        if (!reasons.empty())
          sink(Message::Level::warning, "create: using " + backend->device().name + ", because" + reasons);
        return backend;
      } catch (const Error& error) {
        reason = error.what();
      }
    } else {
      reason = "this build of tessera leaves it out.";
    }
    reasons += (reasons.empty() ? " " : "\n  ") + std::string(to_string(kind)) + ": " + reason;
  }
  throw Error(ErrorCode::not_found, "create: no device could be opened." + reasons);
}

}  // namespace tessera
