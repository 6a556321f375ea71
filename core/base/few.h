// A list that is short nearly always, and needs no memory of its own then.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace tessera {

// Up to `n` values lie in the object itself.
template <class T, std::size_t n>
class Few {
 public:
  Few() = default;
  explicit Few(std::span<const T> values) {
    if (values.size() > n) more_ = std::make_unique<T[]>(capacity_ = values.size());
    std::copy(values.begin(), values.end(), begin());
    size_ = values.size();
  }
  Few(const Few&) = delete;
  Few& operator=(const Few&) = delete;

  void push_back(T value) {
    if (size_ == capacity_) {
      auto larger = std::make_unique<T[]>(2 * capacity_);
      std::move(begin(), end(), larger.get());
      more_ = std::move(larger);
      capacity_ *= 2;
    }
    begin()[size_++] = std::move(value);
  }
  void clear() {
    std::fill(begin(), end(), T());
    more_.reset();
    size_ = 0;
    capacity_ = n;
  }

  T* begin() { return more_ ? more_.get() : first_.data(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return more_ ? more_.get() : first_.data(); }
  const T* end() const { return begin() + size_; }
  const T* data() const { return begin(); }  // by which it is a span
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::size_t index) const { return begin()[index]; }

 private:
  std::array<T, n> first_{};
  std::unique_ptr<T[]> more_;
  std::size_t size_ = 0, capacity_ = n;
};

}  // namespace tessera
