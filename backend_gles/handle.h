// Owners of GL objects. They hold the device and delete with its context current, from any thread. Where the context
// cannot become current, as a host's, the next call that enters it deletes the object.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>

#include "backend_gles/state.h"

namespace tessera::gles {

// Takes over an object that a GL function returned, which is 0 where the context is lost.
template <class T, void (*destroy)(const Device&, T)>
class Handle {
 public:
  Handle() = default;
  Handle(std::shared_ptr<const Device> device, T object) : device_(std::move(device)), object_(object) {}
  Handle(Handle&& other) noexcept : device_(std::move(other.device_)), object_(std::exchange(other.object_, T{})) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (!object_) return;
    const CurrentContext current(device_->context());
    if (current.is_current()) destroy(*device_, object_);
    else
      device_->delete_later([](const Device& device, std::uintptr_t word) { destroy(device, from_word(word)); },
                            to_word(object_));
  }

  T get() const { return object_; }
  explicit operator bool() const { return object_ != T{}; }

 private:
  // GL names are numbers, but for those of fences, which are pointers.
  static std::uintptr_t to_word(T object) {
    if constexpr (std::is_pointer_v<T>) return reinterpret_cast<std::uintptr_t>(object);
    else return object;
  }
  static T from_word(std::uintptr_t word) {
    if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(word);
    else return static_cast<T>(word);
  }

  std::shared_ptr<const Device> device_;
  T object_{};
};

// GL deletes most objects by a list of names.
template <auto delete_names>
void delete_one(const Device& device, GLuint name) {
  (device.gl().*delete_names)(1, &name);
}
inline void delete_framebuffer(const Device& device, GLuint name) {
  device.own_framebuffers().remove(name);
  device.gl().DeleteFramebuffers(1, &name);
}
inline void delete_program(const Device& device, GLuint name) { device.gl().DeleteProgram(name); }
inline void delete_shader(const Device& device, GLuint name) { device.gl().DeleteShader(name); }
inline void delete_sync(const Device& device, GLsync sync) { device.gl().DeleteSync(sync); }
inline void delete_texture(const Device& device, GLuint name) {
  device.own_textures().remove(name);
  device.gl().DeleteTextures(1, &name);
}

using Buffer = Handle<GLuint, delete_one<&GladGLES2Context::DeleteBuffers>>;
using Framebuffer = Handle<GLuint, delete_framebuffer>;
using Program = Handle<GLuint, delete_program>;
using Query = Handle<GLuint, delete_one<&GladGLES2Context::DeleteQueries>>;
using Sampler = Handle<GLuint, delete_one<&GladGLES2Context::DeleteSamplers>>;
using Shader = Handle<GLuint, delete_shader>;
using Sync = Handle<GLsync, delete_sync>;
using Texture = Handle<GLuint, delete_texture>;
using VertexArray = Handle<GLuint, delete_one<&GladGLES2Context::DeleteVertexArrays>>;

// The context is current for all functions that follow.
template <class Owner, auto generate_names>
Owner make_one(const std::shared_ptr<const Device>& device) {
  GLuint name = 0;
  (device->gl().*generate_names)(1, &name);
  return {device, name};
}
inline constexpr auto& make_buffer = make_one<Buffer, &GladGLES2Context::GenBuffers>;
inline constexpr auto& make_query = make_one<Query, &GladGLES2Context::GenQueries>;
inline constexpr auto& make_sampler = make_one<Sampler, &GladGLES2Context::GenSamplers>;
inline constexpr auto& make_vertex_array = make_one<VertexArray, &GladGLES2Context::GenVertexArrays>;
inline Framebuffer make_framebuffer(const std::shared_ptr<const Device>& device) {
  Framebuffer made = make_one<Framebuffer, &GladGLES2Context::GenFramebuffers>(device);
  device->own_framebuffers().add(made.get());
  return made;
}
inline Texture make_texture(const std::shared_ptr<const Device>& device) {
  Texture made = make_one<Texture, &GladGLES2Context::GenTextures>(device);
  device->own_textures().add(made.get());
  return made;
}

}  // namespace tessera::gles
