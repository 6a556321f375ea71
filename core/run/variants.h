// Variants: which of the ways to do a step (core/run/step_variants.h) is the fastest on this device is measured.
//
// Plans take the usual ones at first. Later (core/run/plan_use.h) the others are tried (core/run/variant_trial.h).
// Where another one wins, the next run is planned again with it. Choices are kept in ContextOptions::cache_dir.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/platform/disk_cache.h"
#include "core/run/fuse.h"

namespace tessera {

struct ContextState;

// Of a context.
class Variants {
 public:
  explicit Variants(ContextState&);

  ChooseVariant chooser();         // for planning
  bool are_taken_by(const Plan&);  // else the plan has to be made again
  // Begins to try what nobody has measured, where the plan's use says so.
  void ran(const Plan&, const Graph&);
  bool are_on_trial() const { return on_trial_ > 0; }
  // A trial is over: none where it failed, in which case the usual variant stays, for now.
  void decided(const StepChoice&, std::optional<std::size_t> winner, KernelUses);

  void clear();                    // as another device came
  void force(std::size_t number);  // for tests: this one, counted from the first again where there are fewer

 private:
  static constexpr std::size_t most_choices = 4096, most_trials = 256;

  struct Choice {
    std::size_t variant = 0;
    bool is_open = true;  // it is neither known nor on trial
    KernelUses uses{};    // the kernels stay compiled until plans have them
  };
  bool are_on() const;
  std::size_t choose(const std::string& key, std::span<const std::string> names);

  ContextState& context_;
  std::map<std::string, Choice> choices_;
  std::size_t trials_ = 0, on_trial_ = 0;
  std::uint64_t decisions_ = 1;  // counted, so that plans are looked at once after each
  std::unique_ptr<DiskCache> files_;
  std::optional<std::size_t> forced_;
};

}  // namespace tessera
