#include "backend_gles/own_names.h"

namespace tessera::gles {

void OwnNames::add(GLuint name) {
  if (name == 0) return;  // which is what a lost context gives
  const std::scoped_lock hold(lock_);
  names_[name] = {++made_, {}};
}

void OwnNames::remove(GLuint name) {
  const std::scoped_lock hold(lock_);
  names_.erase(name);
}

std::uint64_t OwnNames::age_of(GLuint name) const {
  const std::scoped_lock hold(lock_);
  const auto found = names_.find(name);
  return found == names_.end() ? 0 : found->second.age;
}

void OwnNames::lend(GLuint name, std::weak_ptr<const void> lender) {
  const std::scoped_lock hold(lock_);
  if (const auto found = names_.find(name); found != names_.end()) found->second.lender = std::move(lender);
}

bool OwnNames::is_ours_alone(GLuint name) const {
  const std::scoped_lock hold(lock_);
  const auto found = names_.find(name);
  return found != names_.end() && found->second.lender.expired();
}

}  // namespace tessera::gles
