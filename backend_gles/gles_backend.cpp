#include "backend_gles/gles_backend.h"

#include "backend_gles/adapter.h"
#include "backend_gles/backend.h"
#include "backend_gles/egl_context.h"

namespace tessera::gles {
namespace {

constexpr std::string_view advice =
    "On Debian, the packages libegl1, libegl-mesa0 and libgles2 bring one; the environment variable TESSERA_ANGLE_DIR "
    "names a folder with ANGLE's libEGL.so and libGLESv2.so.";

std::unique_ptr<Backend> create(const FoundDevice& device, const MessageSink& messages) {
  return std::make_unique<GlesBackend>(
      std::make_shared<const Device>(std::make_unique<EglContext>(adapter_of(device).display), messages));
}

}  // namespace

BackendFactory factory() { return {find_devices, create, advice}; }

}  // namespace tessera::gles
