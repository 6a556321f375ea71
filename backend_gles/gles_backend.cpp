#include "backend_gles/gles_backend.h"

#include "backend_gles/adapter.h"
#include "backend_gles/backend.h"
#include "backend_gles/egl_context.h"

namespace tessera::gles {
namespace {

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> infos;
  for (const Adapter* adapter : usable_adapters()) infos.push_back(adapter->info);
  return infos;
}

std::unique_ptr<Backend> create(std::string_view driver, const MessageSink& sink) {
  return std::make_unique<GlesBackend>(
      std::make_shared<const Device>(std::make_unique<EglContext>(find_adapter(driver, sink).display)));
}

}  // namespace

BackendFactory factory() { return {devices, create}; }

}  // namespace tessera::gles
