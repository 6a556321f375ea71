// Memory of small objects that come and go by the hundred: each operation makes a node, each step of each run a buffer,
// and a run that repeats itself is to allocate nothing.
#pragma once
#include <array>
#include <cstddef>
#include <new>
#include <tuple>
#include <utility>

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

// Memory that this thread's objects left, for its next ones of the same size. The lists are on the heap, so that a
// thread that computes nothing pays for one pointer: what threads have of their own lies on their stacks, those of
// drivers among them.
class SpareBlocks {
 public:
  template <std::size_t size>
  static void* take() {
    Lists* const lists = of_thread().lists;
    Block* const block = lists ? lists->at(size).first : nullptr;
    if (!block) return ::operator new(size);
    lists->at(size).first = block->next;
    --lists->at(size).count;
    return block;
  }

  template <std::size_t size>
  static void give_back(void* memory) noexcept {
    static_assert(size / alignment < std::tuple_size_v<decltype(Lists::by_size)> && size % alignment == 0);
    if constexpr (recycles_memory)
      if (Lists* const lists = lists_for_more(); lists && lists->at(size).count < most) {
        List& list = lists->at(size);
        list.first = new (memory) Block{list.first};
        ++list.count;
        return;
      }
    ::operator delete(memory);
  }

 private:
  static constexpr std::size_t most = 512, alignment = sizeof(void*);
  struct Block {
    Block* next;
  };
  struct List {
    Block* first = nullptr;
    std::size_t count = 0;
  };
  struct Lists {
    std::array<List, 256> by_size{};
    List& at(std::size_t size) { return by_size[size / alignment]; }
    ~Lists() {
      for (const List& list : by_size)
        for (Block* block = list.first; block;) ::operator delete(std::exchange(block, block->next));
    }
  };
  struct OfThread {
    Lists* lists;
    bool is_closed;  // the thread ends: objects that go after this leave nothing
  };
  struct Closing {
    void open() noexcept {}  // a thread that never calls this has nothing to do at its end
    ~Closing() {
      delete std::exchange(of_thread().lists, nullptr);
      of_thread().is_closed = true;
    }
  };

  static OfThread& of_thread() {
    static constinit thread_local OfThread own{};
    return own;
  }
  // Nothing where there is no memory for them, or no more use.
  static Lists* lists_for_more() noexcept {
    OfThread& own = of_thread();
    if (own.lists || own.is_closed) return own.lists;
    static thread_local Closing at_end;
    at_end.open();
    return own.lists = new (std::nothrow) Lists;
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
    return static_cast<T*>(count == 1 ? SpareBlocks::take<sizeof(T)>() : ::operator new(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (count == 1) SpareBlocks::give_back<sizeof(T)>(memory);
    else ::operator delete(memory);
  }
  bool operator==(const Recycled&) const { return true; }
};

}  // namespace tessera
