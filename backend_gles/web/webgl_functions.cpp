#include "backend_gles/web/webgl_functions.h"

#include <emscripten/emscripten.h>
#include <emscripten/html5.h>
#include <glad/gles2.h>

#include <cstdlib>
#include <string_view>

#include "backend_gles/web/page_objects.h"

// Emscripten's own functions. Its pointers to those with arguments of 64 bits cannot be called (Emscripten 3.1).
extern "C" {
GLenum glClientWaitSync(GLsync, GLbitfield, GLuint64);
void glWaitSync(GLsync, GLbitfield, GLuint64);
void glGetBufferSubData(GLenum target, GLintptr offset, GLsizeiptr size, void* data);
GLenum glGetError();
const GLubyte* glGetString(GLenum);
void glEnable(GLenum);
void glDisable(GLenum);
GLboolean glIsEnabled(GLenum);
void glGetIntegerv(GLenum, GLint*);
}

namespace tessera::gles {
namespace {

// clang-format off
// A pixel is read after all that was drawn before. The bindings are known to the browser without asking the device.
EM_JS(void, tessera_wait_for_a_pixel, (), {
  const gl = GLctx;
  const framebuffer = gl.getParameter(gl.READ_FRAMEBUFFER_BINDING), buffer = gl.getParameter(gl.PIXEL_PACK_BUFFER_BINDING);
  if (!gl.tesseraPixel) {
    const texture = gl.getParameter(gl.TEXTURE_BINDING_2D);
    const pixel = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, pixel);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, 1, 1);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.tesseraPixel = gl.createFramebuffer();
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, gl.tesseraPixel);
    gl.framebufferTexture2D(gl.READ_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, pixel, 0);
  }
  gl.bindFramebuffer(gl.READ_FRAMEBUFFER, gl.tesseraPixel);
  gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  gl.bindBuffer(gl.PIXEL_PACK_BUFFER, buffer);
  gl.bindFramebuffer(gl.READ_FRAMEBUFFER, framebuffer);
})
// Notes the states that Chromium does not know without asking its GPU process, as the page and tessera set them from now
// on. A context that is restored has them as a new one has.
EM_JS(void, tessera_watch_states, (), {
  const gl = GLctx;
  if (gl.tesseraStates) return;
  const states = gl.tesseraStates = { mask: gl.getParameter(gl.COLOR_WRITEMASK), feedback: gl, feedbacks: new Map() };
  const current = () => states.feedbacks.get(states.feedback) || { active: false, paused: false };
  const set = (active, paused) => { states.feedbacks.set(states.feedback, { active: active, paused: paused }); };
  states.current = current;
  const watch = (name, note) => {
    const own = gl[name];
    gl[name] = function() {
      own.apply(gl, arguments);
      note.apply(null, arguments);
    };
  };
  set(gl.getParameter(gl.TRANSFORM_FEEDBACK_ACTIVE), gl.getParameter(gl.TRANSFORM_FEEDBACK_PAUSED));
  watch("colorMask", (r, g, b, a) => { states.mask = [r, g, b, a]; });
  watch("bindTransformFeedback", (target, feedback) => { states.feedback = feedback || gl; });
  watch("beginTransformFeedback", () => set(true, false));
  watch("endTransformFeedback", () => set(false, false));
  watch("pauseTransformFeedback", () => set(true, true));
  watch("resumeTransformFeedback", () => set(true, false));
  watch("deleteTransformFeedback", (feedback) => { states.feedbacks.delete(feedback); });
  gl.canvas.addEventListener("webglcontextrestored", () => {
    states.mask = [true, true, true, true];
    states.feedback = gl;
    states.feedbacks.clear();
  });
})
EM_JS(int, tessera_watched_state, (int name, int* to), {
  const states = GLctx.tesseraStates;
  if (!states) return 0;
  if (name == 0x0C23) for (let i = 0; i < 4; ++i) HEAP32[(to >> 2) + i] = states.mask[i] ? 1 : 0;
  else if (name == 0x8E24) HEAP32[to >> 2] = states.current().active ? 1 : 0;
  else if (name == 0x8E23) HEAP32[to >> 2] = states.current().paused ? 1 : 0;
  else return 0;
  return 1;
})
// clang-format on

void get_integers(GLenum name, GLint* to) {
  constexpr GLenum color_mask = 0x0C23, feedback_paused = 0x8E23, feedback_active = 0x8E24;
  const bool is_watched = name == color_mask || name == feedback_paused || name == feedback_active;
  if (is_watched && tessera_watched_state(static_cast<int>(name), to)) return;
  if (is_binding(name)) *to = name_of_bound(name);  // which may be the page's own, and Emscripten does not know
  else glGetIntegerv(name, to);
}

GLenum client_wait(GLsync sync, GLbitfield flags, GLuint64 nanoseconds) {
  if (nanoseconds == 0) return glClientWaitSync(sync, flags, 0);
  tessera_wait_for_a_pixel();
  return GL_CONDITION_SATISFIED;
}
void wait(GLsync sync, GLbitfield flags, GLuint64 nanoseconds) { glWaitSync(sync, flags, nanoseconds); }

void* mapped = nullptr;  // one buffer at a time is
void* map(GLenum target, GLintptr offset, GLsizeiptr bytes, GLbitfield) {
  std::free(mapped);
  mapped = std::malloc(static_cast<std::size_t>(bytes));
  if (mapped) glGetBufferSubData(target, offset, bytes, mapped);
  return mapped;
}
GLboolean unmap(GLenum) {
  std::free(mapped);
  mapped = nullptr;
  return GL_TRUE;
}

GLenum error() {
  constexpr GLenum lost_in_webgl = 0x9242, lost = 0x0507;
  const GLenum code = glGetError();
  return code == lost_in_webgl ? lost : code;
}

const GLubyte* text(GLenum name) {
  constexpr GLenum unmasked_vendor = 0x9245, unmasked_renderer = 0x9246;
  if (name == GL_VENDOR || name == GL_RENDERER)
    if (const GLubyte* const unmasked = glGetString(name == GL_VENDOR ? unmasked_vendor : unmasked_renderer))
      if (*unmasked) return unmasked;
  return glGetString(name);
}

// WebGL2 restarts primitives at all times and has no name for it.
template <void (*set)(GLenum)>
void set_if_known(GLenum capability) {
  if (capability != GL_PRIMITIVE_RESTART_FIXED_INDEX) set(capability);
}
GLboolean is_enabled(GLenum capability) {
  return capability == GL_PRIMITIVE_RESTART_FIXED_INDEX ? GL_TRUE : glIsEnabled(capability);
}

void request_extension(const char* name) {
  constexpr std::string_view prefix = "GL_";
  if (std::string_view(name).starts_with(prefix)) name += prefix.size();
  emscripten_webgl_enable_extension(emscripten_webgl_get_current_context(), name);
}

struct OwnFunction {
  std::string_view name;
  void* function;
};
const OwnFunction own_functions[] = {
    {"glClientWaitSync", reinterpret_cast<void*>(client_wait)},
    {"glWaitSync", reinterpret_cast<void*>(wait)},
    {"glMapBufferRange", reinterpret_cast<void*>(map)},
    {"glUnmapBuffer", reinterpret_cast<void*>(unmap)},
    {"glEnable", reinterpret_cast<void*>(set_if_known<glEnable>)},
    {"glDisable", reinterpret_cast<void*>(set_if_known<glDisable>)},
    {"glIsEnabled", reinterpret_cast<void*>(is_enabled)},
    {"glGetIntegerv", reinterpret_cast<void*>(get_integers)},
    {"glGetError", reinterpret_cast<void*>(error)},
    {"glGetString", reinterpret_cast<void*>(text)},
    {"glRequestExtensionANGLE", reinterpret_cast<void*>(request_extension)},
};

void* find(const char* name) {
  for (const OwnFunction& own : own_functions)
    if (own.name == name) return own.function;
  return emscripten_webgl_get_proc_address(name);
}

}  // namespace

const Loader& webgl_loader() {
  static const Loader loader = find;
  return loader;
}

void enable_extensions() {
  for (const char* name : {"EXT_color_buffer_float", "KHR_parallel_shader_compile", "OES_texture_float_linear",
                           "WEBGL_debug_renderer_info"})
    request_extension(name);
  tessera_watch_states();
}

}  // namespace tessera::gles
