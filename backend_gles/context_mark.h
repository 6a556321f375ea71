// Tells a host's context from a later one at the same address: where a host destroys its context and makes another, the
// new one often has the place of the old one, and its objects have the same names.
#pragma once
#include <glad/gles2.h>

#include <string>

namespace tessera::gles {

// A vertex array, which no other context sees, not even one that shares with this, with a number that no other has.
class ContextMark {
 public:
  explicit ContextMark(const GladGLES2Context&);  // in the current context

  bool is_here() const noexcept;  // whether the current context has it
  void remove() const noexcept;   // from the current context, which has it

 private:
  GladGLES2Context gl_;
  GLuint vertex_array_ = 0;
  GLint number_;
  std::string label_;
};

}  // namespace tessera::gles
