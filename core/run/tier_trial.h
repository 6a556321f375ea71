// A kernel with constants on trial: compared with the general kernel, and timed against it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/run/trial_parts.h"
#include "core/run/trials.h"

namespace tessera {

struct ContextState;

// A kernel with constants, in the place of a general one. Steps that do equal work share it.
struct Tier {
  enum class State : std::uint8_t { on_trial, taken, refused };

  State state = State::on_trial;
  Kernel kernel{};
  std::optional<PixelKernel> pixel_kernel{};  // instead of a Kernel
  KernelUses uses{};                          // the general kernel too: falling back to it compiles nothing
};

// A dispatch of a general kernel, free of the storages and the host's textures that it had.
struct TierWork {
  Kernel kernel{};
  std::optional<PixelKernel> pixel_kernel{};  // instead of a Kernel
  ConstantWords constants{};
  std::vector<std::uint32_t> words{};
  std::vector<std::int64_t> operand_elements{};
  std::int64_t workgroups = 0;
  std::vector<StorageSpec> inputs{};
  struct Output {
    StorageSpec storage;
    int channels = 4;  // of each four elements, those that count
  };
  std::vector<Output> outputs{};
};

// Both kernels run on storages of the trial's own, which are filled with random numbers, once ordinary ones and once
// any bits. All bits of the results must agree, but for those of NaN. Images of a host's, and those of f16, are images
// of f32 on trial: what differs there is how pixels are read and written, in which there are no constants.
class TierTrial : public Trial {
 public:
  TierTrial(TierWork, std::shared_ptr<Tier>);
  ~TierTrial() override;

  // Whatever fails refuses the tier. It is taken where it is faster by a twentieth at least.
  Turn work(ContextState&, bool whatever_times) override;
  bool timed(const TimedRun& run) override { return clock_.timed(run); }
  void give_up() override { refuse(); }
  void finished(ContextState&) override;

 private:
  enum class Phase { allocate, compile_general, weigh, compile, compare, download, time };

  Turn work_on(ContextState&, bool whatever_times);
  bool allocate(ContextState&);
  void fill(Backend&, TrialNumbers);
  void make_kernels(bool with_floats);
  Dispatch dispatch_of(bool is_general, std::vector<std::unique_ptr<Storage>>& outputs);
  bool start_download(Backend&);  // of the next elements, if there are any
  bool are_equal() const;         // those that were downloaded
  void begin_to_measure(ContextState&);
  bool measure_a_turn(ContextState&);  // false: all were
  Turn refuse();

  TierWork work_;
  std::shared_ptr<Tier> tier_;
  PixelKernel tried_pixels_{};  // with constants, on images of f32
  bool has_floats_ = true;      // among the constants
  Phase phase_ = Phase::allocate;
  std::vector<std::unique_ptr<Storage>> inputs_, general_, special_;
  TrialNumbers numbers_ = TrialNumbers::ordinary;
  std::size_t output_ = 0;  // that is compared
  std::optional<TrialReader> reader_;
  TrialClock clock_;
  double general_time_ = 0;  // roughly
  TimesInTurns turns_;
  bool has_won_before_ = false;  // in one round of two
};

}  // namespace tessera
