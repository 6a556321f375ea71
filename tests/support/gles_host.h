// A host that speaks OpenGL ES or desktop OpenGL itself: its own EGL context, its own functions, no help from tessera.
#pragma once
#if TESSERA_HAS_GLES
#include <glad/egl.h>
#include <glad/gles2.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/devices.h"
#include <tessera/gles.h>

namespace tessera::test {

std::vector<TestDevice> gles_devices();  // with desktop OpenGL

// Current on the thread that makes it, until it goes.
class GlesHost {
 public:
  explicit GlesHost(const TestDevice&, const std::vector<EGLint>& more_attributes = {},
                    EGLContext shares_with = EGL_NO_CONTEXT);
  explicit GlesHost(const gles::HostContext&);  // one that was made for it
  ~GlesHost();
  GlesHost(const GlesHost&) = delete;
  GlesHost& operator=(const GlesHost&) = delete;

  GladGLES2Context gl{};
  void make_current() const;
  void release() const;  // no context is current on this thread
  const gles::Loader& loader() const { return loader_; }
  template <class Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(loader_(name));
  }
  EGLDisplay display() const { return display_; }
  EGLContext handle() const { return context_; }
  bool is_desktop() const { return is_desktop_; }
  int version() const;  // 32 is 3.2
  bool has_extension(std::string_view name) const;

  // Fails the test on warnings and errors; checks the state around each use, unless told otherwise.
  Context adopt(const gles::AdoptOptions& = {.restore_state = true, .check_state = true}, ContextOptions = {}) const;

  // They go with the context.
  GLuint texture(GLenum internal_format, int width, int height, GLenum format, GLenum type, const void* values);
  GLuint framebuffer(GLuint texture);
  static constexpr GLenum texture_external = 0x8D65;  // GL_TEXTURE_EXTERNAL_OES
  GLuint external_texture(GLuint texture);            // with the same texels; 0 where the driver cannot make one
  // Of texts for OpenGL ES, which desktop contexts get with another version. `varying` is for transform feedback.
  GLuint program(const std::string& fragment_text, const char* vertex_text = whole_viewport,
                 const char* varying = nullptr);
  static const char* const whole_viewport;  // one triangle, from gl_VertexID
  void draw(GLuint program, GLuint framebuffer, int width, int height);

  template <class T>
  std::vector<T> pixels(GLuint framebuffer, int width, int height, GLenum format, GLenum type, int components = 4) {
    std::vector<T> values(static_cast<std::size_t>(width * height * components));
    read(framebuffer, width, height, format, type, values.data());
    return values;
  }
  void expect_no_error(const char* what);

 private:
  void start();
  void read(GLuint framebuffer, int width, int height, GLenum format, GLenum type, void* values);

  gles::Loader loader_ = nullptr;
  EGLDisplay display_;
  EGLContext context_;
  bool is_desktop_ = false;
};

// All GL state that a host could care for, by name.
using GlState = std::map<std::string, std::vector<double>>;
GlState state_of(const GladGLES2Context&);
std::string difference(const GlState& before, const GlState& after);

// Runs as a host on the device of its parameter.
class OnGlesHost : public OnDevice {
 protected:
  void SetUp() override;
  void TearDown() override;
  GlesHost& host() { return *host_; }
  GladGLES2Context& gl() { return host_->gl; }
  Context& gpu() { return *gpu_; }  // adopted
  void drop_gpu() { gpu_.reset(); }

 private:
  std::optional<GlesHost> host_;
  std::optional<Context> gpu_;
};

#define TESSERA_ON_GLES_DEVICES(suite)                                                      \
  INSTANTIATE_TEST_SUITE_P(On, suite, ::testing::ValuesIn(::tessera::test::gles_devices()), \
                           ::tessera::test::device_name)

}  // namespace tessera::test
#endif
