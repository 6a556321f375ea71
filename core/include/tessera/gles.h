// tessera and a host of OpenGL ES 3, or of desktop OpenGL from 3.3 on: work in its context, read its textures, write to
// them, lend it ours.
//
//   tessera::Context gpu = tessera::gles::adopt_current();             // the context that is current on this thread
//   auto frame = tessera::gles::from_texture(gpu, {.texture = camera, .width = 640, .height = 480});
//   tessera::gles::to_texture(tessera::square(frame), {.texture = screen, .width = 640, .height = 480});
//
// Nothing here reads pixels back. The host's textures stay the host's: tessera never deletes them, and counts them in
// MemoryInfo::bytes_external. Calls may come from any thread for contexts that tessera made, and from the thread on
// which the host's context is current for adopted ones (else wrong_thread). docs/interop_gles.md has the whole story.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/context.h>
#include <tessera/texture_part.h>

namespace tessera::gles {

// ---- The host's context.

// GL state that tessera sets while it works. Everything else, uniforms of the host's programs included, is never
// touched.
namespace state {
inline constexpr std::uint32_t program = 1u << 0, vertex_array = 1u << 1, draw_framebuffer = 1u << 2,
                               read_framebuffer = 1u << 3, viewport = 1u << 4, color_mask = 1u << 5,
                               active_texture = 1u << 6;
// Of the units in Dirtied::texture_units: GL_TEXTURE_2D, GL_TEXTURE_EXTERNAL_OES, samplers, and the last one
// GL_TEXTURE_2D_ARRAY, GL_TEXTURE_CUBE_MAP and GL_TEXTURE_3D.
inline constexpr std::uint32_t textures = 1u << 7, external_textures = 1u << 8, samplers = 1u << 9,
                               other_textures = 1u << 31;
// glPixelStorei and the bound buffers; of desktop OpenGL, also the clamping of colors that are read.
inline constexpr std::uint32_t pixel_unpack = 1u << 10, pixel_pack = 1u << 11;
inline constexpr std::uint32_t transform_feedback = 1u << 12;  // paused
// Disabled. The sample mask is there from OpenGL ES 3.1 on.
inline constexpr std::uint32_t blend = 1u << 16, cull_face = 1u << 17, depth_test = 1u << 18, dither = 1u << 19,
                               polygon_offset_fill = 1u << 20, rasterizer_discard = 1u << 21,
                               sample_alpha_to_coverage = 1u << 22, sample_coverage = 1u << 23, scissor_test = 1u << 24,
                               stencil_test = 1u << 25, sample_mask = 1u << 26;
// Of desktop OpenGL. Polygons are filled, and these are disabled:
inline constexpr std::uint32_t polygon_mode = 1u << 13, clip_distances = 1u << 14, color_logic_op = 1u << 27,
                               polygon_smooth = 1u << 28, primitive_restart = 1u << 29, sample_alpha_to_one = 1u << 30;
// Of a compatibility profile: alpha test and polygon stipple are disabled, fragments are not clamped, and pixels are
// transferred as they are.
inline constexpr std::uint32_t compatibility = 1u << 15;
}  // namespace state

struct AdoptOptions {
  bool restore_state = true;  // false: state stays as tessera set it, and dirtied() tells which
  // Compares all GL state before and after each use of the context, and tells on_message what differs. Slow; always on
  // in debug builds, and where the environment variable TESSERA_CHECK_GL_STATE is set.
  bool check_state = false;
  // Names each call and each kernel for debuggers (glPushDebugGroup, where the context has GL_KHR_debug). A debug
  // callback of the host's gets them as notifications.
  bool debug_groups = true;
};

// Finds a GL function by its name, and those of EGL or GLX if it can: a function such as eglGetProcAddress,
// glXGetProcAddressARB or glfwGetProcAddress, or whatever is called like one and gives a pointer:
//   [context](const char* name) { return context->getProcAddress(name); }   // a QOpenGLContext
class Loader {
 public:
  Loader(std::nullptr_t) {}
  template <class Find>
  requires(!std::is_same_v<Find, Loader> && std::is_pointer_v<std::invoke_result_t<Find&, const char*>>)
      Loader(Find find) {
    if (std::function<std::invoke_result_t<Find&, const char*>(const char*)> given(std::move(find)); given)
      find_ = [given = std::move(given)](const char* name) { return reinterpret_cast<void*>(given(name)); };
  }
  template <class Pointer>
  Loader(Pointer (*find)(const unsigned char* name)) {  // as GLX spells it
    if (find)
      find_ = [find](const char* name) {
        return reinterpret_cast<void*>(find(reinterpret_cast<const unsigned char*>(name)));
      };
  }

  void* operator()(const char* name) const { return find_(name); }
  explicit operator bool() const { return static_cast<bool>(find_); }

 private:
  std::function<void*(const char*)> find_;
};

// A tessera context inside the context of OpenGL ES 3, or of OpenGL 3.3 or later, that is current on this thread;
// several may share one. The host's context should outlive it and be current where it is let go: else tessera's objects
// stay until the host's context goes. `prefer` and `driver` of the options say nothing here. Without a loader, the
// libraries of EGL, GLX and WGL are asked.
TESSERA_API Context adopt_current(const ContextOptions& = {}, const AdoptOptions& = {});
TESSERA_API Context adopt_current(Loader, const ContextOptions& = {}, const AdoptOptions& = {});

// The state that an adopted context without restore_state has set since it was adopted, or since the last call.
struct Dirtied {
  std::uint32_t states;         // a union of state::…
  std::uint32_t texture_units;  // bit u: unit u
  bool operator==(const Dirtied&) const = default;
};
TESSERA_API Dirtied dirtied(Context&);

// An EGL context, and the means to call EGL.
struct HostContext {
  void *display = nullptr, *context = nullptr;  // EGLDisplay, EGLContext
  Loader get_proc_address = nullptr;            // of the EGL library they belong to; a program may hold several
};

// The context that tessera works in. Where the host was adopted without EGL, display and context are null.
TESSERA_API HostContext host_context(const Context&);

// A new context for the host, which shares textures with the one that tessera made for itself and is current nowhere
// yet. The host makes it current on a thread of its own (eglMakeCurrent, without surfaces) and destroys it
// (eglDestroyContext). It shares with one device of tessera's: once that is lost, the host makes another. unsupported
// where tessera works in the host's own context: only the host knows its attributes.
TESSERA_API HostContext make_sharing_context(const Context&);

// ---- In step with a host that works in another context of the share group, on a thread and at a pace of its own.
// Within one context, commands run in order and need none of this.

// A GLsync behind all work submitted so far: the host waits for it on the device (glWaitSync) or on its thread
// (glClientWaitSync) before it reads what tessera wrote, and deletes it (glDeleteSync).
TESSERA_API void* fence(Context&);

// Work that tessera submits from now on runs after this GLsync of the host's. The calling thread does not wait. The
// host has flushed the commands before it, and may delete it as soon as this returns.
TESSERA_API void wait_for(Context&, void* fence);

// ---- Out: tessera's textures for the host.

struct TexShape {
  int height, width;
  bool operator==(const TexShape&) const = default;
};

struct GpuDataOptions {
  std::optional<TexShape> custom_tex_shape{};  // else up to four times as high as wide
};

struct GpuData {
  unsigned texture;          // a GL_TEXTURE_2D: texel t, row by row, holds elements 4t..4t+3; past the end there is 0
  TexShape tex_shape;        // of the whole texture
  unsigned internal_format;  // GL_RGBA32F, GL_RGBA16F, GL_RGBA32I, GL_RGBA8I, GL_RGBA8UI
  DType dtype;
  Tensor tensor_ref;  // the texture is the host's to read while this lives, and no longer
};

// Computes the tensor. Costs nothing where its texture has the wanted shape already, as when it was not computed
// before; else one pass.
TESSERA_API GpuData data_to_gpu(const Tensor&, const GpuDataOptions& = {});

// ---- In: the host's textures.

struct HostTexture {
  unsigned texture;               // of the host's; from_texture: or one that data_to_gpu has lent
  int width, height;              // of level 0
  std::string channels = "RGBA";  // from_texture: which, in which order: "R", "BGR", …; or "D", depth; "S", stencil
  unsigned internal_format = 0;   // 0: asks the driver. Needed where an OpenGL ES 3.0 driver cannot tell
  // GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_CUBE_MAP or GL_TEXTURE_3D; from_texture: or GL_TEXTURE_EXTERNAL_OES,
  // as cameras and video decoders give.
  unsigned target = 0x0DE1;
  bool copy = false;         // from_texture: a copy, even where the texture could be read in place
  DType dtype = DType::f32;  // from_texture: or f16, or u8
  TexturePart part{};        // that is read, or written
};

struct HostFramebuffer {
  unsigned framebuffer = 0;  // its color attachment 0; 0: the window's. Of the context that was adopted
  int width, height;
  int x = 0, y = 0;  // the lower left corner
};

// [height, width, channels] of the part, as a shader samples it: normalised formats give 0..1, sRGB gives linear
// values, integers themselves. f16 rounds these. u8 are the numbers 0 to 255 that the texture has, in sRGB formats
// those that are encoded: formats of 8 bits without a sign, external textures and stencil. Nothing is copied where
// kernels can sample the texture: they do so each time that something is computed from the tensor, and see what the
// host has drawn until then. compute() keeps the pixels as they are, unless the texture is a GL_RGBA32F, which as a
// whole always is read in place; `copy` keeps those too. Stencil takes a pass of its own, and OpenGL ES 3.1 or
// OpenGL 4.3.
TESSERA_API Tensor from_texture(Context&, const HostTexture&);

struct FromFramebuffer {
  std::string channels = "RGBA";  // or "D", the depth attachment; "S", the stencil attachment
  DType dtype = DType::f32;
};

// The same of a framebuffer, for attachments that no shader can sample: those with several samples a pixel, which are
// resolved, renderbuffers, and the window's back buffer. Each kernel that reads the tensor copies the pixels first.
TESSERA_API Tensor from_texture(Context&, const HostFramebuffer&, const FromFramebuffer& = {});

// ---- Out: into the host's textures.

struct ToTextureOptions {
  bool flip_y = false;                 // row 0 of the tensor becomes the last row, which is the upper one in a window
  std::vector<Tensor> also_compute{};  // in the same submission: tensors that later frames need
};

// Writes an image, [height, width], [height, width, 1..4] or [1, height, width, 1..4] of f32, f16 or u8, in the same
// submission that computes it. u8 counts as 0..255 for 0..1, one channel is grey, alpha is 1 where there is none.
// Formats clamp, round and encode (sRGB) as for the host's own drawing; integer formats get the plain numbers, rounded.
// Where a context of tessera's own is lost on the way, this throws device_lost: the target went with it.
TESSERA_API void to_texture(const Tensor& image, const HostTexture& target, const ToTextureOptions& = {});
TESSERA_API void to_texture(const Tensor& image, const HostFramebuffer& target, const ToTextureOptions& = {});

// Compiles what to_texture with the same arguments would run, and runs nothing: for the time before the first frame. As
// Program::prepare, in slices of Context::prepare_some in a host's context. Frames of the same form then find their
// kernels, from other textures of the same formats and into others too.
TESSERA_API Pending<void> prepare_to_texture(const Tensor& image, const HostTexture& target,
                                             const ToTextureOptions& = {});
TESSERA_API Pending<void> prepare_to_texture(const Tensor& image, const HostFramebuffer& target,
                                             const ToTextureOptions& = {});

// ---- In the host's shaders.

// GLSL ES 3.00, or GLSL 3.30 in a desktop context, that declares `uniform sampler2D NAME_texture` (or isampler2D,
// usampler2D), to be set to a unit with the texture that data_to_gpu gives for this tensor, and functions that read it:
// `float NAME(int i)`, element i, and NAME_at with an index for each dimension, such as `NAME_at(int n, int y, int x,
// int c)`. Integers and booleans give int. Nothing is computed. A name that GLSL reserves, or has a function of, is an
// invalid_argument.
TESSERA_API std::string shader_accessor(const Tensor&, std::string_view name);

}  // namespace tessera::gles
