// Kernels on trial, one after the other: in the background or, on a host's device, in Context::prepare_some().
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>

#include "core/kernel/backend.h"

namespace tessera {

struct ContextState;

class Trial {
 public:
  enum class Turn { did_some, waits, over };

  virtual ~Trial() = default;
  // Does a part of the work, and does not throw: whatever fails ends the trial. For tests, `whatever_times` takes
  // kernels that are no faster.
  virtual Turn work(ContextState&, bool whatever_times) = 0;
  virtual bool timed(const TimedRun&) = 0;   // whether the times are those of the trial
  virtual void finished(ContextState&) = 0;  // called when it is over
};

class Trials {
 public:
  void add(ContextState&, std::unique_ptr<Trial>);
  Trial::Turn work(ContextState&);                                        // on the first one
  void work_until(ContextState&, std::chrono::steady_clock::time_point);  // a part at least
  bool timed(const TimedRun& run) { return !waiting_.empty() && waiting_.front()->timed(run); }
  void clear() { waiting_.clear(); }  // as the device goes

  void take_all() { takes_all_ = true; }  // for tests: faster or not
  // The runs after which the kernels of a plan are tried.
  std::uint64_t runs_before(bool is_program) const { return takes_all_ || is_program ? 2 : 8; }

 private:
  bool takes_all_ = false, is_working_ = false;
  std::deque<std::unique_ptr<Trial>> waiting_;  // the first one is being worked on
};

}  // namespace tessera
