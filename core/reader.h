// Finishes downloads that nobody waits for.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/backend.h"

namespace tessera {

// A thread, started by the first download, that asks now and then whether one is ready and sleeps in between: the
// device can be waited for only under the context's lock, which would stall a host's frame.
class Reader {
 public:
  using Finish = std::function<void(Download*, std::exception_ptr)>;  // with the download, or with what went wrong

  explicit Reader(std::mutex& context_lock) : context_lock_(context_lock) {}
  ~Reader();  // finishes what is under way
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void add(std::unique_ptr<Download>, Finish);

 private:
  struct Job {
    std::unique_ptr<Download> download;
    Finish finish;
  };
  void run();
  bool finish_if_ready(Job&);

  std::mutex& context_lock_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<Job> added_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tessera
