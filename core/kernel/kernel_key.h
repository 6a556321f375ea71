// Equal keys, equal kernels. The hash is made once, with the kernel, and not in each run.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace tessera {

class KernelKey {
 public:
  KernelKey() = default;
  KernelKey(std::string text)
      : hash_(std::hash<std::string>{}(text)), text_(std::make_shared<const std::string>(std::move(text))) {}

  const std::string& text() const {
    static const std::string none;
    return text_ ? *text_ : none;
  }
  std::size_t hash() const { return hash_; }
  bool empty() const { return text().empty(); }

  // Texts have many thousand letters, and copies of a key have one text: runs of a plan compare no letters.
  bool operator==(const KernelKey& other) const {
    return text_ == other.text_ || (hash_ == other.hash_ && text() == other.text());
  }

 private:
  std::size_t hash_ = 0;
  std::shared_ptr<const std::string> text_;
};

}  // namespace tessera
