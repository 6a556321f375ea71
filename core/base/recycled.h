// Memory of small objects that come and go by the hundred: each operation makes a node, each step of each run a buffer,
// and a run that repeats itself is to allocate nothing.
#pragma once
#include <cstddef>
#include <new>

namespace tessera {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool recycles_memory = false;  // the sanitizer is to see who uses an object that is gone
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool recycles_memory = false;
#else
constexpr bool recycles_memory = true;
#endif
#else
constexpr bool recycles_memory = true;
#endif

// Memory of one size that this thread's objects left, for its next ones.
template <std::size_t size>
class SpareBlocks {
 public:
  static void* take() {
    List& list = spare();
    if (!list.first) return ::operator new(size);
    Block* const block = list.first;
    list.first = block->next;
    --list.count;
    return block;
  }

  static void give_back(void* memory) noexcept {
    List& list = spare();
    if (!recycles_memory || list.is_closed || list.count >= most) return ::operator delete(memory);
    if (!list.first) closing().open();
    list.first = new (memory) Block{list.first};
    ++list.count;
  }

 private:
  static constexpr std::size_t most = 512;
  struct Block {
    Block* next;
  };
  struct List {
    Block* first;
    std::size_t count;
    bool is_closed;  // the thread ends: objects that go after this one leave nothing
  };
  struct Closing {
    void open() noexcept {}  // a thread that never calls this has nothing to do at its end
    ~Closing() {
      List& list = spare();
      list.is_closed = true;
      while (list.first) ::operator delete(take());
    }
  };
  static List& spare() {
    static constinit thread_local List list{};
    return list;
  }
  static Closing& closing() {
    static thread_local Closing at_end;
    return at_end;
  }
};

// For std::allocate_shared.
template <class T>
struct Recycled {
  using value_type = T;

  Recycled() = default;
  template <class Other>
  Recycled(const Recycled<Other>&) {}  // NOLINT: allocators are converted

  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return static_cast<T*>(count == 1 ? SpareBlocks<sizeof(T)>::take() : ::operator new(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (count == 1) SpareBlocks<sizeof(T)>::give_back(memory);
    else ::operator delete(memory);
  }
  bool operator==(const Recycled&) const { return true; }
};

}  // namespace tessera
