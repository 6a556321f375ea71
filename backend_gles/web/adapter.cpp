// The one device that a page has for WebGL2.
#include "backend_gles/backend.h"
#include "backend_gles/web/webgl_context.h"

namespace tessera::gles {
namespace {

struct WebGlAdapter final : Adapter {
  std::unique_ptr<Backend> open(const ContextOptions& options, const MessageSink& messages) const override {
    return std::make_unique<GlesBackend>(
        std::make_shared<const Device>(std::make_unique<WebGlContext>(), messages, options));
  }
};

std::unique_ptr<Adapter> start() {
  auto adapter = std::make_unique<WebGlAdapter>();
  adapter->info = Device(std::make_unique<WebGlContext>()).info();
  return adapter;
}

}  // namespace

BackendFactory factory() {
  return {[] {
            return std::vector<AdapterPlace>{{"the browser's WebGL2", start}};
          },
          "WebGL2 may be switched off in the browser's settings, or for this device."};
}

}  // namespace tessera::gles
