#include "backend_gles/web/page_objects.h"

#include <emscripten/emscripten.h>

// clang-format off
EM_JS(int, tessera_name_of_bound, (int binding), {
  const object = GLctx.getParameter(binding);
  if (!object) return 0;
  if (object.name) return object.name;
  const table = object instanceof WebGLTexture ? GL.textures : object instanceof WebGLFramebuffer ? GL.framebuffers
    : object instanceof WebGLProgram ? GL.programs : object instanceof WebGLVertexArrayObject ? GL.vaos
    : object instanceof WebGLSampler ? GL.samplers : object instanceof WebGLRenderbuffer ? GL.renderbuffers : GL.buffers;
  object.name = GL.getNewId(table);
  table[object.name] = object;
  if (!GL.tesseraNamed) GL.tesseraNamed = [];
  GL.tesseraNamed.push([table, object]);
  return object.name;
})
EM_JS(void, tessera_forget_page_objects, (), {
  if (!GL.tesseraNamed || !GL.tesseraNamed.length) return;
  for (const pair of GL.tesseraNamed) {
    pair[0][pair[1].name] = null;
    pair[1].name = 0;
  }
  GL.tesseraNamed = [];
})
// UNPACK_FLIP_Y_WEBGL, UNPACK_PREMULTIPLY_ALPHA_WEBGL and UNPACK_COLORSPACE_CONVERSION_WEBGL are the browser's own: asking
// for them asks no device.
EM_JS(void, tessera_take_page_uploads_plain, (), {
  const gl = GLctx;
  gl.tesseraUploads = [0x9240, 0x9241, 0x9243].map((name) => [name, gl.getParameter(name)]).filter((pair) => pair[1] !== false && pair[1] !== 0);
  for (const pair of gl.tesseraUploads) gl.pixelStorei(pair[0], 0);
})
EM_JS(void, tessera_give_page_uploads_back, (), {
  for (const pair of GLctx.tesseraUploads) GLctx.pixelStorei(pair[0], pair[1]);
})
// clang-format on

namespace tessera::gles {

bool is_binding(GLenum name) {
  switch (name) {
    case GL_TEXTURE_BINDING_2D:
    case GL_TEXTURE_BINDING_2D_ARRAY:
    case GL_TEXTURE_BINDING_3D:
    case GL_TEXTURE_BINDING_CUBE_MAP:
    case GL_SAMPLER_BINDING:
    case GL_CURRENT_PROGRAM:
    case GL_VERTEX_ARRAY_BINDING:
    case GL_DRAW_FRAMEBUFFER_BINDING:
    case GL_READ_FRAMEBUFFER_BINDING:
    case GL_RENDERBUFFER_BINDING:
    case GL_ARRAY_BUFFER_BINDING:
    case GL_ELEMENT_ARRAY_BUFFER_BINDING:
    case GL_COPY_READ_BUFFER_BINDING:
    case GL_COPY_WRITE_BUFFER_BINDING:
    case GL_PIXEL_PACK_BUFFER_BINDING:
    case GL_PIXEL_UNPACK_BUFFER_BINDING:
    case GL_UNIFORM_BUFFER_BINDING: return true;
    default: return false;
  }
}

GLint name_of_bound(GLenum name) { return tessera_name_of_bound(static_cast<int>(name)); }
void forget_page_objects() noexcept { tessera_forget_page_objects(); }
void take_page_uploads_plain() noexcept { tessera_take_page_uploads_plain(); }
void give_page_uploads_back() noexcept { tessera_give_page_uploads_back(); }

}  // namespace tessera::gles
