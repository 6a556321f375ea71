#include "backend_gles/context_mark.h"

#include <array>
#include <atomic>

namespace tessera::gles {
namespace {

GLint next_number() {
  static std::atomic<GLint> last{0x7E550000};  // far from what a host would set
  return ++last;
}

}  // namespace

// With labels, the number is one. Otherwise it is the divisor of an attribute: it has 32 bits, and no draw looks at it,
// since the attribute has no array.
ContextMark::ContextMark(const GladGLES2Context& gl)
    : gl_(gl), number_(next_number()), label_("tessera's mark " + std::to_string(number_)) {
  GLint bound = 0;
  gl_.GetIntegerv(GL_VERTEX_ARRAY_BINDING, &bound);
  gl_.GenVertexArrays(1, &vertex_array_);
  gl_.BindVertexArray(vertex_array_);
  if (gl_.KHR_debug) gl_.ObjectLabelKHR(GL_VERTEX_ARRAY_KHR, vertex_array_, -1, label_.c_str());
  else gl_.VertexAttribDivisor(0, static_cast<GLuint>(number_));
  gl_.BindVertexArray(static_cast<GLuint>(bound));
}

bool ContextMark::is_here() const noexcept {
  if (gl_.KHR_debug && gl_.IsVertexArray(vertex_array_)) {
    std::array<GLchar, 64> label{};
    gl_.GetObjectLabelKHR(GL_VERTEX_ARRAY_KHR, vertex_array_, static_cast<GLsizei>(label.size()), nullptr,
                          label.data());
    return label_ == label.data();
  }
  GLint bound = -1, number = 0;
  gl_.GetIntegerv(GL_VERTEX_ARRAY_BINDING, &bound);
  if (bound < 0) return true;  // a context that is lost answers nothing; whoever works there finds out
  if (!gl_.IsVertexArray(vertex_array_)) return false;
  gl_.BindVertexArray(vertex_array_);
  gl_.GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_DIVISOR, &number);
  gl_.BindVertexArray(static_cast<GLuint>(bound));
  return number == number_;
}

void ContextMark::remove() const noexcept { gl_.DeleteVertexArrays(1, &vertex_array_); }

}  // namespace tessera::gles
