// A page's own objects and state, in a WebGL2 context that tessera has adopted.
//
// Emscripten gives numbers to the objects that it makes. The page has made others without it, and binds them: such an
// object gets a number when tessera asks what is bound, in order to bind it again, and loses it when tessera leaves the
// context. Objects that the page gives a number itself, as `object.name` in Emscripten's table, keep it.
#pragma once
#include <glad/gles2.h>

namespace tessera::gles {

bool is_binding(GLenum name);  // whether glGetIntegerv gives the name of an object for it
GLint name_of_bound(GLenum name);
void forget_page_objects() noexcept;

// WebGL alone flips, multiplies by alpha and converts colours while it uploads, from a program's memory too. What the
// page has set of it is set aside for as long as tessera is in the context.
void take_page_uploads_plain() noexcept;
void give_page_uploads_back() noexcept;

}  // namespace tessera::gles
