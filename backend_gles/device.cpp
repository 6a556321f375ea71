#include "backend_gles/device.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "backend_gles/egl.h"
#include "backend_gles/known_objects.h"
#include "backend_gles/state.h"
#include "backend_gles/storage.h"
#include "core/kernel/device_errors.h"
#include "core/platform/host.h"

namespace tessera::gles {
namespace {

constexpr int largest_side = 16384;  // element indices stay below 2^31, and one tensor below 4 GiB
// A software device shares the host's memory. SwiftShader and lavapipe stop at 1 GiB.
constexpr std::uint64_t software_tensor_bytes = std::uint64_t{1023} << 20;

constexpr GLenum context_lost = 0x0507;  // GL_CONTEXT_LOST, of OpenGL ES 3.2 and GL_KHR_robustness

constexpr GLenum max_fragment_uniform_components = 0x8B49;  // GL_MAX_FRAGMENT_UNIFORM_COMPONENTS

constexpr const char* required_extension = "GL_EXT_color_buffer_float";
constexpr const char* optional_extensions[] = {"GL_ANGLE_get_tex_level_parameter", "GL_EXT_disjoint_timer_query",
                                               "GL_KHR_debug", "GL_KHR_parallel_shader_compile"};

GLADapiproc find_function(void* context, const char* name) {
  return static_cast<const GlContext*>(context)->find<GLADapiproc>(name);
}

bool checks_state_always() {
#ifdef NDEBUG
  return std::getenv("TESSERA_CHECK_GL_STATE") != nullptr;
#else
  return true;
#endif
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return contains_ignoring_case(text, part); });
}

}  // namespace

Device::Device(std::unique_ptr<const GlContext> context, MessageSink messages, const ContextOptions& options,
               const AdoptOptions& adopt_options)
    : context_(std::move(context)),
      messages_(std::move(messages)),
      options_(adopt_options),
      asks_later_(tessera::asks_later(options.device_errors)),
      known_objects_(asks_later_ ? std::make_unique<KnownObjects>() : nullptr) {
  options_.check_state = options_.check_state || checks_state_always();
  const CurrentContext current(*context_);
  require(current);
  load_functions();
  read_limits();
  describe();
  open_cache(options.cache_dir);
  if (!context_->is_borrowed()) set_working_state(*this, ~0u, 1);
  context_->mark(gl_);
  check("starting " + info_.name);
}

Device::~Device() {
  const CurrentContext current(*context_);
  if (!current.is_current()) return;
  delete_waiting();
  if (idle_query_ != 0) gl_.DeleteQueries(1, &idle_query_);
  context_->unmark();
}

void Device::require(const CurrentContext& current) const {
  if (is_lost_) throw Error(ErrorCode::device_lost, "The GL context of " + info_.name + " is lost.");
  if (!current.is_current()) context_->refuse(info_.name.empty() ? "a new device" : info_.name);
}

void Device::load_functions() {
  // A context like WebGL2's has the extensions that were requested, and glad looks at them when it loads.
  if (context_->has_extensions_on_request())
    if (const auto request = context_->find<void (*)(const char*)>("glRequestExtensionANGLE")) {
      request(required_extension);
      for (const char* extension : optional_extensions) request(extension);
    }
  if (!gladLoadGLES2ContextUserPtr(&gl_, find_function, const_cast<GlContext*>(context_.get())))
    throw Error(ErrorCode::unsupported, "no context of OpenGL or OpenGL ES is current there, or it has no functions");
  first_error();  // clears that of an optional extension that is not there
  api_ = api_of(gl_);
  if (!api_.is_desktop && !gl_.EXT_color_buffer_float && api_.version < 32)
    throw Error(ErrorCode::unsupported, std::string("it lacks ") + required_extension + ": it cannot draw to floats");
  spell_as_es(gl_, api_, *context_);
  functions_ = LaterFunctions(api_, *context_);
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
  const int all_vectors = api_.is_desktop ? integer(max_fragment_uniform_components) / 4  // the other came with 4.1
                                          : integer(GL_MAX_FRAGMENT_UNIFORM_VECTORS);
  const int vectors = all_vectors - vectors_for_other_uniforms;
  const int inputs = std::min(integer(GL_MAX_TEXTURE_IMAGE_UNITS), 16);
  limits_ = {.max_inputs = inputs,
             .max_words = std::min(4 * vectors, 4096),
             .workgroups = false,
             .custom_language = ShaderLanguage::glsl,
             .tells_memory = false,
             .pixels = {.max_side = max_side_,
                        .max_half_side = max_side_,
                        .max_slice_side = std::min(integer(GL_MAX_3D_TEXTURE_SIZE), max_slices),
                        .max_inputs = inputs,
                        .max_outputs = std::min({integer(GL_MAX_DRAW_BUFFERS), integer(GL_MAX_COLOR_ATTACHMENTS), 8}),
                        .stores_elements = false},
             .any_thread = !context_->is_borrowed(),
             .draws_blocks = true,
             .row_elements = [](std::int64_t elements) {
               return 4 * extent_of({DType::f32, elements}).width;
             }};
}

void Device::describe() {
  const auto text = [&](GLenum name) {
    const GLubyte* value = gl_.GetString(name);
    return std::string(value ? reinterpret_cast<const char*>(value) : "");
  };
  info_.backend = BackendKind::gles;
  info_.name = text(GL_RENDERER);
  info_.vendor = text(GL_VENDOR);
  stores_half_infinity_as_nan_ = contains_ignoring_case(info_.name, "swiftshader");
  info_.is_software = is_one_of(info_.name, {"llvmpipe", "swiftshader", "softpipe", "swrast"});
  if (info_.is_software) limits_.cores = cores_of_host();
  limits_.compiles_beside = limits_.pixels.compiles_beside = gl_.KHR_parallel_shader_compile && !info_.is_software;

  const std::string version = (api_.is_desktop ? "OpenGL " : "") + text(GL_VERSION);
  if (contains_ignoring_case(version, "ANGLE")) {
    const std::string_view below = contains_ignoring_case(info_.name, "swiftshader") ? "SwiftShader"
                                   : contains_ignoring_case(info_.name, "llvmpipe")  ? "lavapipe"
                                                                                     : "Vulkan";
    info_.driver = "ANGLE on " + std::string(below) + ": " + version;
  } else {
    info_.driver = context_->display() ? "EGL " + context_->egl_vendor() + ": " + version : version;
  }

  info_.max_tensor_bytes = byte_count(4 * std::int64_t{max_side_} * max_side_, DType::f32);
  if (info_.is_software) info_.max_tensor_bytes = std::min(info_.max_tensor_bytes, software_tensor_bytes);
}

void Device::open_cache(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  GLint formats = 0;
  if (gl_.GetProgramBinary) gl_.GetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats);
  if (formats > 0) {
    cache_ = std::make_unique<DiskCache>(folder, info_.vendor + '\n' + info_.name + '\n' + info_.driver, messages_);
  } else {
    tell(Message::Level::info,
         "cache_dir: " + info_.name + " does not give out what it has compiled, so that nothing is kept.");
  }
}

// Clears all errors. GL keeps fewer than `most_errors`, but some drivers repeat one for ever where the context is lost.
GLenum Device::first_error() const {
  constexpr int most_errors = 16;
  GLenum first = GL_NO_ERROR;
  for (int i = 0; i < most_errors; ++i) {
    const GLenum error = gl_.GetError();
    if (error == context_lost) return error;
    if (error == GL_NO_ERROR) break;
    if (first == GL_NO_ERROR) first = error;
  }
  return first;
}

GLenum Device::take_error() const {
  const GLenum error = first_error();
  if (error == context_lost) is_lost_ = true;
  if (is_lost_) throw Error(ErrorCode::device_lost, "The GL context of " + info_.name + " is lost.");
  return error;
}

void Device::check(std::string_view what) const {
  const GLenum error = first_error();
  const bool was_reset = gl_.EXT_robustness && gl_.GetGraphicsResetStatusEXT() != GL_NO_ERROR;
  // ANGLE marks a context that ran out of memory as lost, though it works once it is made current again. So a reset
  // that came with GL_OUT_OF_MEMORY is no loss; a device that is really gone answers with context_lost.
  if (error == GL_OUT_OF_MEMORY) reset_is_known_ = was_reset;
  if (error == context_lost || (was_reset && !reset_is_known_)) is_lost_ = true;

  const std::uint64_t not_asked = std::exchange(times_not_asked_, 0);
  if (error == GL_NO_ERROR && !is_lost_) return;
  std::string where = std::string(what) + " on " + info_.name;
  if (not_asked > 0)
    where +=
        ", or one of the " + std::to_string(not_asked) + " pieces of work before, up to the kernel " + last_kernel_;
  if (is_lost_) throw Error(ErrorCode::device_lost, where + ": the GL context is lost.");
  if (error == GL_OUT_OF_MEMORY) throw Error(ErrorCode::out_of_memory, where + ": the device is out of memory.");
  const std::string refusal = where + ": the driver refused it with GL error " + hex(error) + ".";
  if (asks_later_ && context_->is_borrowed())
    return tell(Message::Level::warning, refusal + " The error may be that of a call of the host's own.");
  throw Error(ErrorCode::unsupported, refusal);
}

void Device::check_repeated(std::string_view what) const {
  if (!asks_later_ || std::exchange(has_new_work_, false)) return check(what);
  ++times_not_asked_;
  if (!is_lost_ && !context_->is_known_to_be_lost()) return;
  is_lost_ = true;
  throw Error(ErrorCode::device_lost, std::string(what) + " on " + info_.name + ": the GL context is lost.");
}

void Device::pass_on_errors_of_host() const {
  if (asks_later_) return;
  if (const GLenum error = take_error(); error != GL_NO_ERROR)
    tell(Message::Level::warning, "The host's own GL error " + hex(error) +
                                      " was waiting for glGetError when tessera was called; it is gone now.");
}

void Device::tell(Message::Level level, std::string text) const { messages_(level, std::move(text)); }

// Shaders that say nothing draw to viewport 0; a host may have others.
void Device::set_viewport(GLint x, GLint y, GLsizei width, GLsizei height) const {
  if (functions_.ViewportIndexedf)
    functions_.ViewportIndexedf(0, static_cast<GLfloat>(x), static_cast<GLfloat>(y), static_cast<GLfloat>(width),
                                static_cast<GLfloat>(height));
  else gl_.Viewport(x, y, width, height);
}

GLuint Device::idle_query() const {
  constexpr GLenum samples_passed = 0x8914;  // GL_SAMPLES_PASSED
  if (idle_query_ != 0) return idle_query_;
  gl_.GenQueries(1, &idle_query_);
  gl_.BeginQuery(samples_passed, idle_query_);
  if (gl_.GetError() == GL_NO_ERROR) {
    gl_.EndQuery(samples_passed);
  } else {
    gl_.DeleteQueries(1, &idle_query_);
    idle_query_ = 0;
  }
  return idle_query_;
}

void Device::delete_later(Delete destroy, std::uintptr_t object) const noexcept {
  const std::scoped_lock hold(waiting_lock_);
  waiting_.push_back({destroy, object});
  has_waiting_ = true;
}

void Device::delete_waiting() const {
  if (!has_waiting_) return;
  std::vector<Waiting> waiting;
  {
    const std::scoped_lock hold(waiting_lock_);
    waiting.swap(waiting_);
    has_waiting_ = false;
  }
  for (const Waiting& object : waiting) object.destroy(*this, object.object);
}

void Device::note_dirtied(const Dirtied& more) const {
  dirtied_.states |= more.states;
  dirtied_.texture_units |= more.texture_units;
}

Dirtied Device::take_dirtied() const { return std::exchange(dirtied_, {}); }

void Device::label(GLenum kind, GLuint name, std::string_view text) const {
  constexpr std::size_t longest = 255;  // that every driver takes
  text = text.substr(0, longest);
  if (gl_.KHR_debug) gl_.ObjectLabelKHR(kind, name, narrow<GLsizei>(text.size()), text.data());
}

}  // namespace tessera::gles
