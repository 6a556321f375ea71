// The variants of a step's core on trial: each is compared with the usual one, and timed against the fastest so far.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/run/step_variants.h"
#include "core/run/trial_parts.h"
#include "core/run/trials.h"

namespace tessera {

// A variant runs on storages of the trial's own. On small whole numbers, where sums are exact, all bits of its result
// must be the usual one's. On others, elements may differ by a part of what the usual variant makes of the numbers'
// magnitudes; or, where results must have the same bits, by nothing, and not on any bits either.
class VariantTrial : public Trial {
 public:
  VariantTrial(StepChoice choice, std::vector<StorageSpec> operands, bool needs_same_bits)
      : choice_(std::move(choice)), operands_(std::move(operands)), needs_same_bits_(needs_same_bits) {}

  Turn work(ContextState&, bool whatever_times) override;
  bool timed(const TimedRun& run) override { return clock_.timed(run); }
  void give_up() override;
  void finished(ContextState&) override;

 private:
  enum class Phase { allocate, compile_usual, weigh, compile, compare, time, prepare };

  // A variant with the storages between its steps.
  struct Candidate {
    std::size_t index = 0;
    std::vector<std::unique_ptr<Storage>> own{};
  };

  Turn work_on(ContextState&, bool whatever_times);
  bool allocate(ContextState&);
  bool has_own_storages(ContextState&, Candidate&);  // false: there is no room
  Turn begin_next(ContextState&);
  Turn end_without_winner();  // the usual variant stays
  void begin_comparing(Backend&, TrialNumbers);
  bool agree() const;  // the elements that were read
  Turn prepare_winner(Backend&);
  std::vector<Dispatch> dispatches_of(const Candidate&, Storage& output);
  void begin_to_measure(ContextState&);
  bool measure_a_turn(ContextState&);  // false: all were
  void note_turn();
  double time_of(std::size_t first, std::size_t count) const;  // the sum, in microseconds; 0: not known
  StorageSpec result() const;

  const StepChoice choice_;
  const std::vector<StorageSpec> operands_;
  const bool needs_same_bits_;
  Phase phase_ = Phase::allocate;
  std::vector<StepVariant> variants_;
  std::vector<std::unique_ptr<Storage>> inputs_;
  std::unique_ptr<Storage> usual_result_, tried_result_, magnitudes_;
  Candidate usual_, best_, tried_;
  std::size_t next_ = 1;  // the variant to be tried after this one
  TrialNumbers numbers_ = TrialNumbers::whole;
  std::optional<TrialReader> reader_;
  TrialClock clock_;
  TimesInTurns turns_;                // of the best variant and the one that is being tried
  bool has_won_before_ = false;       // the variant that is being tried, in one round of two
  double best_time_ = 0, spent_ = 0;  // of the device, in microseconds, roughly
  std::uint64_t bytes_ = 0;           // of all storages
  KernelUses uses_;
  std::optional<std::size_t> winner_;
  std::vector<StepVariant> prepared_;  // of the step as a whole, once there is a winner
};

}  // namespace tessera
