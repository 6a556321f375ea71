#include "backend_gles/device.h"

#include <algorithm>

namespace tessera::gles {
namespace {

constexpr int largest_side = 16384;  // element indices stay below 2^31, and one tensor below 4 GiB
// It shares the host's memory; a little below 1 GiB, where SwiftShader and lavapipe stop.
constexpr std::uint64_t software_tensor_bytes = std::uint64_t{1023} << 20;

constexpr GLenum context_lost = 0x0507;  // GL_CONTEXT_LOST, of OpenGL ES 3.2 and GL_KHR_robustness

constexpr const char* required_extension = "GL_EXT_color_buffer_float";
constexpr const char* optional_extensions[] = {"GL_EXT_disjoint_timer_query", "GL_KHR_debug"};

GLADapiproc find_function(void* egl, const char* name) {
  return reinterpret_cast<GLADapiproc>(static_cast<const Egl*>(egl)->GetProcAddress(name));
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return contains_ignoring_case(text, part); });
}

}  // namespace

Device::Device(const Display& display) : context_(display) {
  const Entered entered(*this);
  load_functions();
  read_limits();
  describe();
  set_state();
  check("starting " + info_.name);
}

void Device::require(const CurrentContext& current) const {
  if (is_lost_) throw Error(ErrorCode::device_lost, "The GL context of " + info_.name + " is lost.");
  if (current.is_current()) return;
  throw Error(ErrorCode::device_lost, "The context of " + info_.name + " cannot become current, EGL error " +
                                          hex(context_.display().egl->GetError()) + ".");
}

void Device::load_functions() {
  const Egl& egl = *context_.display().egl;
  // glad takes the extensions as they are when it loads, and a context like WebGL2's has those that were asked for.
  using RequestExtension = void (*)(const char*);
  if (context_.display().origin == Origin::angle)
    if (const auto request = reinterpret_cast<RequestExtension>(egl.GetProcAddress("glRequestExtensionANGLE"))) {
      request(required_extension);
      for (const char* extension : optional_extensions) request(extension);
    }
  if (!gladLoadGLES2ContextUserPtr(&gl_, find_function, const_cast<Egl*>(&egl)))
    throw Error(ErrorCode::unsupported, "it has no OpenGL ES functions");
  while (gl_.GetError() != GL_NO_ERROR) continue;  // an optional extension that is not there
  if (!gl_.ES_VERSION_3_0) throw Error(ErrorCode::unsupported, "it has OpenGL ES 2 only");
  if (!gl_.EXT_color_buffer_float)
    throw Error(ErrorCode::unsupported, std::string("it lacks ") + required_extension + ": it cannot draw to floats");
}

void Device::read_limits() {
  const auto integer = [&](GLenum name) {
    GLint value = 0;
    gl_.GetIntegerv(name, &value);
    return value;
  };
  GLint viewport[2] = {};
  gl_.GetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport);
  max_side_ = std::min({integer(GL_MAX_TEXTURE_SIZE), viewport[0], viewport[1], largest_side});
  constexpr int vectors_for_other_uniforms = 8;
  const int vectors = integer(GL_MAX_FRAGMENT_UNIFORM_VECTORS) - vectors_for_other_uniforms;
  limits_ = {.max_inputs = std::min(integer(GL_MAX_TEXTURE_IMAGE_UNITS), 16),
             .max_words = std::min(4 * vectors, 4096),
             .workgroups = false};
}

void Device::describe() {
  const auto text = [&](GLenum name) {
    const GLubyte* found = gl_.GetString(name);
    return std::string(found ? reinterpret_cast<const char*>(found) : "");
  };
  info_.backend = BackendKind::gles;
  info_.name = text(GL_RENDERER);
  info_.vendor = text(GL_VENDOR);
  info_.is_software = is_one_of(info_.name, {"llvmpipe", "swiftshader", "softpipe", "swrast"});

  const Display& display = context_.display();
  if (display.origin == Origin::angle) {
    const std::string_view below = contains_ignoring_case(info_.name, "swiftshader") ? "SwiftShader"
                                   : contains_ignoring_case(info_.name, "llvmpipe")  ? "lavapipe"
                                                                                     : "Vulkan";
    info_.driver = "ANGLE on " + std::string(below) + ": " + text(GL_VERSION);
  } else {
    const char* vendor = display.egl->QueryString(display.handle, EGL_VENDOR);
    info_.driver = "EGL " + std::string(vendor ? vendor : "") + ": " + text(GL_VERSION);
  }

  const std::uint64_t side = static_cast<std::uint64_t>(max_side_);
  info_.max_tensor_bytes = side * side * 16;
  if (info_.is_software) info_.max_tensor_bytes = std::min(info_.max_tensor_bytes, software_tensor_bytes);
}

// All state that passes rely on and that never changes; the rest is set where a pass is encoded.
void Device::set_state() const {
  for (const GLenum capability :
       {GL_BLEND, GL_CULL_FACE, GL_DEPTH_TEST, GL_DITHER, GL_POLYGON_OFFSET_FILL, GL_RASTERIZER_DISCARD,
        GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_COVERAGE, GL_SCISSOR_TEST, GL_STENCIL_TEST})
    gl_.Disable(capability);
  gl_.ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  for (const GLenum direction : {GL_PACK_ALIGNMENT, GL_UNPACK_ALIGNMENT}) gl_.PixelStorei(direction, 1);
  for (const GLenum skip : {GL_PACK_ROW_LENGTH, GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_ROWS, GL_UNPACK_ROW_LENGTH,
                            GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS})
    gl_.PixelStorei(skip, 0);
}

void Device::check(std::string_view what) const {
  const GLenum error = gl_.GetError();
  if (error != GL_NO_ERROR)
    while (const GLenum more = gl_.GetError())
      if (more == context_lost) break;  // some drivers repeat it for ever
  const bool was_reset = gl_.EXT_robustness && gl_.GetGraphicsResetStatusEXT() != GL_NO_ERROR;
  // ANGLE marks a context that ran out of memory as lost. It works on nevertheless once it is made current again, so
  // that mark is no news from then on; a device that is really gone answers with context_lost.
  if (error == GL_OUT_OF_MEMORY) reset_is_known_ = was_reset;
  if (error == context_lost || (was_reset && !reset_is_known_)) is_lost_ = true;

  const std::string where = std::string(what) + " on " + info_.name;
  if (is_lost_) throw Error(ErrorCode::device_lost, where + ": the GL context is lost.");
  if (error == GL_OUT_OF_MEMORY) throw Error(ErrorCode::out_of_memory, where + ": the device is out of memory.");
  if (error != GL_NO_ERROR)
    throw Error(ErrorCode::unsupported,
                where + ": the driver refused it with GL error " + hex(static_cast<int>(error)) + ".");
}

void Device::label(GLenum kind, GLuint name, std::string_view text) const {
  constexpr std::size_t longest = 255;  // what every driver takes
  text = text.substr(0, longest);
  if (gl_.KHR_debug) gl_.ObjectLabelKHR(kind, name, static_cast<GLsizei>(text.size()), text.data());
}

}  // namespace tessera::gles
