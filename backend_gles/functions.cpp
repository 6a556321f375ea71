#include "backend_gles/functions.h"

#include <algorithm>
#include <string_view>

#include <tessera/error.h>

namespace tessera::gles {
namespace {

constexpr GLenum profile_mask = 0x9126;  // GL_CONTEXT_PROFILE_MASK
constexpr GLint compatibility_profile = 2;

GLint number(const GladGLES2Context& gl, GLenum name) {
  GLint value = 0;
  gl.GetIntegerv(name, &value);
  return value;
}

}  // namespace

bool Api::has(int since_es, int since_desktop, std::initializer_list<const char*> or_extensions) const {
  return version >= (is_desktop ? since_desktop : since_es) ||
         std::ranges::any_of(or_extensions, [&](const char* name) { return extensions.contains(name); });
}

Api api_of(const GladGLES2Context& gl) {
  const auto* text = reinterpret_cast<const char*>(gl.GetString(GL_VERSION));
  const std::string version = text ? text : "(unknown)";
  Api api{.is_desktop = !version.starts_with("OpenGL ES")};
  if (gl.ES_VERSION_3_0)  // glad reads the number only, so this is 3.0 of either kind
    api.version = 10 * number(gl, GL_MAJOR_VERSION) + number(gl, GL_MINOR_VERSION);
  if (api.version < (api.is_desktop ? 33 : 30))
    throw Error(ErrorCode::unsupported, "it has " + (api.is_desktop ? "OpenGL " + version : version) +
                                            ", but OpenGL ES 3.0 is needed, or OpenGL 3.3");
  api.is_compatible = api.is_desktop && (number(gl, profile_mask) & compatibility_profile) != 0;
  const GLint extensions = number(gl, GL_NUM_EXTENSIONS);
  for (GLint i = 0; i < extensions; ++i)
    if (const GLubyte* const name = gl.GetStringi(GL_EXTENSIONS, static_cast<GLuint>(i)))
      api.extensions.insert(reinterpret_cast<const char*>(name));
  return api;
}

void spell_as_es(GladGLES2Context& gl, const Api& api, const GlContext& context) {
  if (!api.is_desktop) return;
  const auto load = [&](auto& function, const char* name) {
    function = context.find<std::remove_reference_t<decltype(function)>>(name);
  };
  load(gl.GetQueryivEXT, "glGetQueryiv");
  load(gl.GetQueryObjectui64vEXT, "glGetQueryObjectui64v");
  load(gl.QueryCounterEXT, "glQueryCounter");
  gl.EXT_disjoint_timer_query = gl.GetQueryivEXT && gl.GetQueryObjectui64vEXT && gl.QueryCounterEXT;

  // Where a driver finds these under the names of OpenGL ES, too, that is a courtesy.
  gl.ObjectLabelKHR = nullptr;
  if (api.has(never, 43, {"GL_KHR_debug"})) {
    load(gl.ObjectLabelKHR, "glObjectLabel");
    load(gl.GetObjectLabelKHR, "glGetObjectLabel");
    load(gl.PushDebugGroupKHR, "glPushDebugGroup");
    load(gl.PopDebugGroupKHR, "glPopDebugGroup");
  }
  gl.KHR_debug = gl.ObjectLabelKHR && gl.GetObjectLabelKHR && gl.PushDebugGroupKHR && gl.PopDebugGroupKHR;

  gl.GetGraphicsResetStatusEXT = nullptr;
  if (api.has(never, 45, {"GL_KHR_robustness"})) load(gl.GetGraphicsResetStatusEXT, "glGetGraphicsResetStatus");
  else if (api.extensions.contains("GL_ARB_robustness"))
    load(gl.GetGraphicsResetStatusEXT, "glGetGraphicsResetStatusARB");
  gl.EXT_robustness = gl.GetGraphicsResetStatusEXT != nullptr;

  if (api.extensions.contains("GL_ARB_parallel_shader_compile")) gl.KHR_parallel_shader_compile = 1;
  gl.OES_EGL_image_external_essl3 = 0;  // GLSL has no such sampler

  if (!api.has(never, 42, {"GL_ARB_texture_storage"})) gl.TexStorage2D = nullptr;
  if (!api.has(never, 40, {"GL_ARB_transform_feedback2"})) gl.PauseTransformFeedback = nullptr;
  if (!api.has(never, 41, {"GL_ARB_get_program_binary"})) gl.GetProgramBinary = nullptr;
}

LaterFunctions::LaterFunctions(const Api& api, const GlContext& context) {
  const auto load = [&](auto& function, const std::string& name) {
    function = context.find<std::remove_reference_t<decltype(function)>>(name.c_str());
  };
  const auto has_extension = [&](const char* name) { return api.extensions.contains(name); };

  if (api.has(32, 30, {"GL_OES_draw_buffers_indexed", "GL_EXT_draw_buffers_indexed"})) {
    const char* const suffix = api.has(32, 30) ? "" : has_extension("GL_OES_draw_buffers_indexed") ? "OES" : "EXT";
    load(ColorMaski, std::string("glColorMaski") + suffix);
    load(Enablei, std::string("glEnablei") + suffix);
    load(Disablei, std::string("glDisablei") + suffix);
    load(IsEnabledi, std::string("glIsEnabledi") + suffix);
  }
  if (api.has(31, 30)) load(GetTexLevelParameteriv, "glGetTexLevelParameteriv");
  else if (has_extension("GL_ANGLE_get_tex_level_parameter"))
    load(GetTexLevelParameteriv, "glGetTexLevelParameterivANGLE");

  if (!api.is_desktop) return;
  load(PolygonMode, "glPolygonMode");
  load(ClampColor, "glClampColor");
  load(DrawBuffer, "glDrawBuffer");
  load(BeginConditionalRender, "glBeginConditionalRender");
  load(EndConditionalRender, "glEndConditionalRender");
  if (api.has(never, 41, {"GL_ARB_viewport_array"})) {
    load(ViewportIndexedf, "glViewportIndexedf");
    load(GetFloati_v, "glGetFloati_v");
  }
  if (api.is_compatible) load(PixelTransferf, "glPixelTransferf");
}

}  // namespace tessera::gles
