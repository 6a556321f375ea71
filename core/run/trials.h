// Kernels on trial, one after the other: in the background or, on a host's device, in Context::prepare_some().
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

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
  virtual void give_up() = 0;                // it has waited too long
  virtual void finished(ContextState&) = 0;  // called when it is over
};

// With Tuning::automatic, there are trials only where nobody waits for the driver's compiler, and they take no more
// than a tenth of the device's time that the work itself takes: each run earns them some, what they take is owed, and
// while they owe they rest.
class Trials {
 public:
  explicit Trials(const ContextState& context) { clear(context); }

  bool are_on() const { return tuning_ != Tuning::off; }
  bool is_eager() const { return tuning_ == Tuning::eager; }
  std::uint64_t eager_runs(bool is_program) const { return takes_all_ || is_program ? 2 : 8; }
  // Whether nobody waits while the driver compiles for a trial.
  bool compile_beside(bool pixels) const { return takes_all_ || (pixels ? compiles_pixels_beside_ : compiles_beside_); }

  void add(ContextState&, std::unique_ptr<Trial>);
  Trial::Turn work(ContextState&);                                        // on the first one
  void work_until(ContextState&, std::chrono::steady_clock::time_point);  // a part at least
  bool timed(const TimedRun& run) { return !waiting_.empty() && waiting_.front()->timed(run); }
  void earn(ContextState&, double run_time);  // of the device, in microseconds

  // Where others need its memory, of which the pool does not know.
  void give_up_first(ContextState&);
  void drop() { waiting_.clear(); }  // as the device goes
  void clear(const ContextState&);   // as another came
  void stop();

  // For tests: those that are tried are taken, faster or not, and others may wait for them; only these are tried.
  void take_all(const ContextState& context) {
    takes_all_ = true;
    clear(context);
  }
  void try_only(bool tiers, bool variants) { tries_tiers_ = tiers, tries_variants_ = variants; }
  bool takes_all() const { return takes_all_; }
  bool try_tiers() const { return are_on() && tries_tiers_; }
  bool try_variants() const { return are_on() && tries_variants_; }

 private:
  static constexpr double part_of_runs = 0.1;
  static constexpr double most_saved = 200'000;  // microseconds

  Tuning tuning_on(const ContextState&) const;
  bool rest() const { return !is_eager() && balance_ < 0; }
  void work_in_background(ContextState&);
  Trial::Turn finish_first(ContextState&);

  Tuning tuning_ = Tuning::off;
  bool is_stopped_ = false, takes_all_ = false, is_working_ = false;
  bool tries_tiers_ = true, tries_variants_ = true;  // unless tests say otherwise
  bool compiles_beside_ = false, compiles_pixels_beside_ = false;
  double balance_ = 0;  // microseconds
  struct Wait {         // for the driver or the device
    std::chrono::steady_clock::time_point began, began_on_tuning_clock;
  };
  std::optional<Wait> wait_;
  std::deque<std::unique_ptr<Trial>> waiting_;  // the first one is being worked on
};

}  // namespace tessera
