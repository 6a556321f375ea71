// Equal keys, equal kernels. The hash is made once, with the kernel, and not in each run.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace tessera {

class KernelKey {
 public:
  KernelKey() = default;
  KernelKey(std::string text) : text_(std::move(text)), hash_(std::hash<std::string>{}(text_)) {}

  const std::string& text() const { return text_; }
  std::size_t hash() const { return hash_; }
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
  std::size_t hash_ = 0;
};

}  // namespace tessera
