#include "backend_gles/own_names.h"

namespace tessera::gles {

void OwnNames::add(GLuint name) {
  if (name == 0) return;  // as a lost context gives
  const std::scoped_lock hold(lock_);
  names_[name] = {++made_, {}};
}

void OwnNames::remove(GLuint name) {
  const std::scoped_lock hold(lock_);
  names_.erase(name);
}

std::uint64_t OwnNames::age_of(GLuint name) const {
  const std::scoped_lock hold(lock_);
  const auto own = names_.find(name);
  return own == names_.end() ? 0 : own->second.age;
}

void OwnNames::lend(GLuint name, std::weak_ptr<const void> loan) {
  const std::scoped_lock hold(lock_);
  if (const auto own = names_.find(name); own != names_.end()) own->second.loan = std::move(loan);
}

bool OwnNames::is_readable(GLuint name, std::uint64_t age) const {
  const std::scoped_lock hold(lock_);
  const auto own = names_.find(name);
  return own == names_.end() ? age == 0 : own->second.age == age && !own->second.loan.expired();
}

}  // namespace tessera::gles
