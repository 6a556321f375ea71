// One GL context with its functions, limits and errors, for every other part of this backend.
#pragma once
#include <glad/gles2.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "backend_gles/functions.h"
#include "backend_gles/gl_context.h"
#include "backend_gles/own_names.h"
#include "core/kernel/backend.h"
#include "core/platform/disk_cache.h"
#include "core/platform/driver_start.h"
#include <tessera/gles.h>

namespace tessera::gles {

struct KnownObjects;

class Device {
 public:
  // Throws unsupported.
  explicit Device(std::unique_ptr<const GlContext>, MessageSink = {}, const ContextOptions& = {},
                  const AdoptOptions& = {});
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Every use of gl() needs an Entered (state.h) in scope.
  const GlContext& context() const { return *context_; }
  void require(const CurrentContext&) const;  // throws where the context is lost or is not current

  const GladGLES2Context& gl() const { return gl_; }
  const LaterFunctions& functions() const { return functions_; }
  const Api& api() const { return api_; }
  bool is_desktop() const { return api_.is_desktop; }
  const DeviceInfo& info() const { return info_; }
  Limits limits() const { return limits_; }
  int max_side() const { return max_side_; }  // of a texture that can be drawn to
  void set_viewport(GLint x, GLint y, GLsizei width, GLsizei height) const;
  // SwiftShader: an infinity that a shader writes to a texture of halves comes out as NaN; 2^16 comes out as infinity.
  bool stores_half_infinity_as_nan() const { return stores_half_infinity_as_nan_; }

  bool is_lost() const { return is_lost_; }
  void lose() const { is_lost_ = true; }  // for tests

  // Asks for the driver's error since the last call, and throws it if there is one: out_of_memory, device_lost, else
  // unsupported.
  void check(std::string_view what) const;
  // The same after work that was done before in the same way: a device that asks later does not ask now, and the next
  // check() names its last kernel. Throws device_lost where that is known without asking.
  void check_repeated(std::string_view what) const;
  void note_kernel(std::string_view label) const { last_kernel_ = label; }  // the last one of such work
  void note_new_work() const { has_new_work_ = true; }  // new kernels or storages: the next work is asked about
  bool asks_later() const { return asks_later_; }       // see DeviceErrors
  // Gives the driver's error since the last call, or GL_NO_ERROR. Throws device_lost.
  GLenum take_error() const;
  // Tells the log of an error that the host has left behind, so that it does not look like one of tessera's.
  void pass_on_errors_of_host() const;
  void tell(Message::Level, std::string text) const;
  const MessageSink& messages() const { return messages_; }

  DiskCache* cache() const { return cache_.get(); }  // for programs; null where there is none

  // For debuggers such as RenderDoc.
  void label(GLenum kind, GLuint name, std::string_view text) const;
  bool names_work() const { return gl_.KHR_debug && options_.debug_groups; }  // see AdoptOptions

  // A query that counts nothing, of desktop OpenGL; 0 where one of the host's is under way. The context is current.
  GLuint idle_query() const;

  // An object whose owner goes where the context is not current is deleted by the next call that enters the context.
  using Delete = void (*)(const Device&, std::uintptr_t object);
  void delete_later(Delete, std::uintptr_t object) const noexcept;
  void delete_waiting() const;

  KnownObjects* known_objects() const { return known_objects_.get(); }  // null where the device asks at once
  OwnNames& own_textures() const { return own_textures_; }
  OwnNames& own_framebuffers() const { return own_framebuffers_; }

  // See AdoptOptions.
  bool restores_state() const { return options_.restore_state; }
  bool checks_state() const { return options_.check_state; }
  void note_dirtied(const Dirtied&) const;
  Dirtied take_dirtied() const;

 private:
  GLenum first_error() const;
  void load_functions();
  void read_limits();
  void describe();
  void open_cache(const std::filesystem::path&);

  std::unique_ptr<const GlContext> context_;
  MessageSink messages_;
  AdoptOptions options_;
  GladGLES2Context gl_{};
  Api api_{};
  LaterFunctions functions_{};
  DeviceInfo info_{};
  bool stores_half_infinity_as_nan_ = false;
  Limits limits_{};
  int max_side_ = 0;
  std::unique_ptr<DiskCache> cache_;
  mutable bool is_lost_ = false, reset_is_known_ = false;  // see check()
  const bool asks_later_;
  mutable bool has_new_work_ = true;
  mutable std::uint64_t times_not_asked_ = 0;
  mutable std::string last_kernel_;
  const std::unique_ptr<KnownObjects> known_objects_;
  mutable Dirtied dirtied_{};
  mutable GLuint idle_query_ = 0;

  struct Waiting {
    Delete destroy;
    std::uintptr_t object;
  };
  mutable std::mutex waiting_lock_;  // tensors are let go on any thread
  mutable std::vector<Waiting> waiting_;
  mutable std::atomic<bool> has_waiting_ = false;
  mutable OwnNames own_textures_, own_framebuffers_;
};

}  // namespace tessera::gles
