#include "core/reader.h"

#include <chrono>

namespace tessera {

Reader::~Reader() {
  {
    const std::scoped_lock hold(lock_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Reader::add(std::unique_ptr<Download> download, Finish finish) {
  const std::scoped_lock hold(lock_);
  added_.push_back({std::move(download), std::move(finish)});
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_one();
}

void Reader::run() {
  using namespace std::chrono_literals;
  constexpr auto shortest = 50us, longest = 1000us;
  std::vector<Job> jobs;
  for (auto pause = shortest;; pause = std::min(2 * pause, longest)) {
    {
      std::unique_lock hold(lock_);
      changed_.wait(hold, [&] { return !jobs.empty() || !added_.empty() || stopping_; });
      if (!added_.empty()) pause = shortest;
      for (Job& job : added_) jobs.push_back(std::move(job));
      added_.clear();
      if (jobs.empty() && stopping_) return;
    }
    if (std::erase_if(jobs, [&](Job& job) { return finish_if_ready(job); }) > 0) pause = shortest;
    if (!jobs.empty()) std::this_thread::sleep_for(pause);
  }
}

bool Reader::finish_if_ready(Job& job) {
  std::exception_ptr error;
  const std::scoped_lock hold(context_lock_);
  try {
    if (!job.download->ready()) return false;
  } catch (...) {
    error = std::current_exception();
  }
  job.finish(job.download.get(), error);
  job.download.reset();  // under the lock, like every use of the device
  return true;
}

}  // namespace tessera
