// The names of a context's textures, or framebuffers, that are tessera's own, to tell them from a host's. GL gives the
// names of deleted objects to new ones: a name that was a host's may be one of tessera's now.
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

  // 0 for a host's. Each object of tessera's has an age of its own, which tells it from an earlier one of that name.
  std::uint64_t age_of(GLuint name) const;

  // A host may read the texture for as long as the loan lives: see Buffer::lend().
  void lend(GLuint name, std::weak_ptr<const void> loan);
  bool is_readable(GLuint name, std::uint64_t age) const;  // of that age, and a host's or lent

 private:
  struct Own {
    std::uint64_t age;
    std::weak_ptr<const void> loan;
  };
  mutable std::mutex lock_;  // tensors are let go on any thread
  std::unordered_map<GLuint, Own> names_;
  std::uint64_t made_ = 0;
};

}  // namespace tessera::gles
