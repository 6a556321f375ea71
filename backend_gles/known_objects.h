// Objects of a host's that a context has been asked about. Questions wait for the device in a page, so a device that
// asks later (DeviceErrors) asks about each object once, and trusts the host to keep it.
#pragma once
#include <glad/gles2.h>

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "backend_gles/host_objects.h"

namespace tessera::gles {

struct KnownObjects {
  // The texture, its target, size and format as the host tells them, and the part.
  using TextureKey = std::tuple<GLuint, GLenum, int, int, GLenum, int, int, int, int, int, int>;
  static TextureKey key_of(const HostTexture& host) {
    const TexturePart& part = host.part;
    return {host.texture, host.target, host.width, host.height, host.internal_format, part.level,
            part.layer,   part.x,      part.y,     part.width,  part.height};
  }
  struct FramebufferTraits {
    Texels texels;
    std::vector<GLuint> attached;
  };
  using TargetKey = std::tuple<GLuint, GLuint, GLenum, int, int>;  // framebuffer, or texture, target, level, layer

  std::set<GLuint> textures, framebuffers;
  std::map<TextureKey, TextureTraits> traits;
  std::map<GLuint, FramebufferTraits> framebuffer_traits;
  std::set<TargetKey> complete_targets;
};

}  // namespace tessera::gles
