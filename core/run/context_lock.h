// The lock of a context.
#pragma once
#include <mutex>

#include "core/platform/poller.h"
#include <tessera/error.h>

namespace tessera {

// A page has one thread: a call that is suspended there until the device answers, by Asyncify or JSPI, keeps the lock,
// and another one that waited for it would wait for ever. Such a call is refused.
class ContextLock {
 public:
  void lock() {
    if (!has_threads() && is_held_)
      throw Error(ErrorCode::busy,
                  "Another call into this context waits for the device, and this page has no other thread: call again "
                  "when that one has returned.");
    mutex_.lock();
    is_held_ = true;
  }
  // False where another call holds the lock in a page; waits for other threads.
  bool lock_unless_suspended() {
    if (!has_threads() && is_held_) return false;
    lock();
    return true;
  }
  void unlock() {
    is_held_ = false;
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  bool is_held_ = false;  // read by a page's one thread only
};

}  // namespace tessera
