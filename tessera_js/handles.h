// Contexts, tensors and models as numbers, as JavaScript has them.
#pragma once
#include <map>
#include <string>
#include <utility>

#include <tessera/error.h>

namespace tessera::js {

template <class Object>
class Handles {
 public:
  explicit Handles(const char* what) : what_(what) {}

  int add(Object object) {
    objects_.emplace(++last_, std::move(object));
    return last_;
  }
  Object& at(int number) {
    const auto object = objects_.find(number);
    if (object == objects_.end())
      throw Error(ErrorCode::invalid_argument, std::string("this ") + what_ + " has been disposed.");
    return object->second;
  }
  void remove(int number) { objects_.erase(number); }

 private:
  const char* what_;
  std::map<int, Object> objects_;
  int last_ = 0;
};

}  // namespace tessera::js
