// Which textures, or which framebuffers, of a context are tessera's own, to tell them from a host's. GL gives the names
// of deleted objects to new ones: what was a host's name may be one of ours now.
#pragma once
#include <glad/gles2.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace tessera::gles {

class OwnNames {
 public:
  void add(GLuint name);
  void remove(GLuint name);

  // 0 for a host's; each of ours has one of its own, so that a name that was another's before is known not to be it.
  std::uint64_t age_of(GLuint name) const;

  // A host may read what was lent to it for as long as the lender lives.
  void lend(GLuint name, std::weak_ptr<const void> lender);
  bool is_ours_alone(GLuint name) const;  // neither a host's nor lent

 private:
  struct Own {
    std::uint64_t age;
    std::weak_ptr<const void> lender;
  };
  mutable std::mutex lock_;  // tensors are let go on any thread
  std::unordered_map<GLuint, Own> names_;
  std::uint64_t made_ = 0;
};

}  // namespace tessera::gles
