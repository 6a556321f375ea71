// Tiers: plans that run again and again get kernels with their sizes, strides and numbers as constants.
//
// The first runs of a plan use general kernels. Later (core/run/plan_use.h) each of its kernels is tried with
// constants, in the background or, on a host's device, in Context::prepare_some(): see core/run/tier_trial.h. From then
// on runs use those that are faster. A run in which a number differs from the constant uses the general kernel.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/run/fuse.h"
#include "core/run/tier_trial.h"

namespace tessera {

struct ContextState;

// Of a context. All that is here is bounded: there are `most_tiers` trials on a device, one at a time.
class Tiers {
 public:
  std::shared_ptr<Tier> tier_for(ContextState&, TierWork);  // null where there are enough

  void clear() { tiers_.clear(); }  // as the device goes, or another came
  void trim();                      // forgets those that no plan uses

 private:
  static constexpr std::size_t most_tiers = 64;

  std::map<std::string, std::shared_ptr<Tier>> tiers_;  // by their keys
};

// Of a plan: the tiers of its steps.
class PlanTiers {
 public:
  // Puts the tier's kernel in the place of the step's, or gets on with making one.
  void use(ContextState&, const Plan&, const Graph&, const Step&, Dispatch&);

 private:
  static constexpr int most_attempts = 2;   // each without the numbers that have changed
  static constexpr int most_fallbacks = 8;  // until the next attempt

  struct StepTier {
    std::shared_ptr<Tier> tier;
    std::vector<std::uint32_t> numbers;  // at the end of the words
    std::vector<bool> varies;            // of the numbers, those that have changed; none: they never have
    bool knows_numbers = false;
    int attempts = 0, fallbacks = 0;

    bool has_numbers_of(const Dispatch&) const;
    void note_numbers(const Dispatch&, std::size_t count);
  };
  std::vector<StepTier> steps_;
};

}  // namespace tessera
