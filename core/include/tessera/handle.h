// Context, Program and TensorHub are made of it: a counted reference that knows when it refers to nothing.
#pragma once
#include <memory>
#include <utility>

#include <tessera/error.h>

namespace tessera {

[[noreturn]] TESSERA_API void throw_moved_from(const char* name);  // hosts may be compiled without exceptions

// Copies refer to the same Impl. Of a handle that was moved from, every use but assignment is an invalid_argument.
template <class Impl>
class Handle {
 public:
  // `name` is that of the class, for the error.
  Handle(const char* name, std::shared_ptr<Impl> impl) : name_(name), impl_(std::move(impl)) {}

  Impl& operator*() const { return *shared(); }
  Impl* operator->() const { return shared().get(); }
  const std::shared_ptr<Impl>& shared() const {
    if (!impl_) throw_moved_from(name_);
    return impl_;
  }

 private:
  const char* name_;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tessera
