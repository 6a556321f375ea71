// The functions of a context beyond those of OpenGL ES 3.0, and the spellings of desktop OpenGL.
#pragma once
#include <glad/gles2.h>

#include <set>
#include <string>

#include "backend_gles/gl_context.h"

namespace tessera::gles {

// The kind of a context. Desktop OpenGL is taken from 3.3 on; nearly all that OpenGL ES 3.0 has, it has as well.
struct Api {
  bool is_desktop = false;
  bool is_compatible = false;  // a compatibility profile, whose old states change what shaders draw
  int version = 0;             // 30, 31 or 32; of desktop OpenGL, from 33 on
  std::set<std::string> extensions{};

  // Whether the context has what came with these versions, or with one of the extensions.
  bool has(int since_es, int since_desktop, std::initializer_list<const char*> or_extensions = {}) const;
};
inline constexpr int never = 1000;  // for a version

// Throws unsupported where tessera cannot use the context.
Api api_of(const GladGLES2Context&);

// Gives functions and extensions that desktop OpenGL has under other names the places of OpenGL ES's, and takes away
// those that this version lacks, though loaders find a function for any name.
void spell_as_es(GladGLES2Context&, const Api&, const GlContext&);

// Functions that glad does not load here; null where the context lacks them.
struct LaterFunctions {
  LaterFunctions() = default;
  LaterFunctions(const Api&, const GlContext&);

  // Of each draw buffer, and of each viewport.
  void(GLAD_API_PTR* ColorMaski)(GLuint, GLboolean, GLboolean, GLboolean, GLboolean) = nullptr;
  void(GLAD_API_PTR* Enablei)(GLenum, GLuint) = nullptr;
  void(GLAD_API_PTR* Disablei)(GLenum, GLuint) = nullptr;
  GLboolean(GLAD_API_PTR* IsEnabledi)(GLenum, GLuint) = nullptr;
  void(GLAD_API_PTR* ViewportIndexedf)(GLuint, GLfloat x, GLfloat y, GLfloat width, GLfloat height) = nullptr;
  void(GLAD_API_PTR* GetFloati_v)(GLenum, GLuint, GLfloat*) = nullptr;

  void(GLAD_API_PTR* GetTexLevelParameteriv)(GLenum, GLint, GLenum, GLint*) = nullptr;

  // Of desktop OpenGL.
  void(GLAD_API_PTR* PolygonMode)(GLenum face, GLenum mode) = nullptr;
  void(GLAD_API_PTR* ClampColor)(GLenum target, GLenum clamp) = nullptr;
  void(GLAD_API_PTR* DrawBuffer)(GLenum) = nullptr;
  void(GLAD_API_PTR* BeginConditionalRender)(GLuint query, GLenum mode) = nullptr;
  void(GLAD_API_PTR* EndConditionalRender)() = nullptr;
  void(GLAD_API_PTR* PixelTransferf)(GLenum, GLfloat) = nullptr;  // of a compatibility profile
};

}  // namespace tessera::gles
