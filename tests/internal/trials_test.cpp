// How trials share the device's time with the work that they are for.
#include <memory>

#include "core/run/context_impl.h"
#include "core/run/tuning_clock.h"
#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::trials_test {
namespace {

using namespace std::chrono_literals;

struct Seen {
  int parts = 0;
  bool is_over = false;
};

// Each of its three parts takes a second.
class SlowTrial : public Trial {
 public:
  explicit SlowTrial(std::shared_ptr<Seen> seen) : seen_(std::move(seen)) {}

  Turn work(ContextState&, bool) override {
    move_tuning_clock(1s);
    return ++seen_->parts == 3 ? Turn::over : Turn::did_some;
  }
  bool timed(const TimedRun&) override { return false; }
  void give_up() override {}
  void finished(ContextState&) override { seen_->is_over = true; }

 private:
  std::shared_ptr<Seen> seen_;
};

class TrialsOnDevice : public OnDevice {
 protected:
  Context start(Tuning tuning) const {
    return Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver, .tuning = tuning});
  }
};
TESSERA_ON_GPU_DEVICES(TrialsOnDevice);

std::shared_ptr<Seen> add_slow_trial(Context& gpu) {
  auto seen = std::make_shared<Seen>();
  {
    const LockedContext locked(gpu);
    locked->trials.add(*locked, std::make_unique<SlowTrial>(seen));
  }
  testing::finish_tiers(gpu);
  return seen;
}

void earn(Context& gpu, std::chrono::microseconds run_time) {
  {
    const LockedContext locked(gpu);
    locked->trials.earn(*locked, static_cast<double>(run_time.count()));
  }
  testing::finish_tiers(gpu);
}

TEST_P(TrialsOnDevice, TakeATenthOfWhatRunsTake) {
  Context gpu = start(Tuning::automatic);
  const auto seen = add_slow_trial(gpu);
  EXPECT_EQ(seen->parts, 1);
  earn(gpu, 9s);
  EXPECT_EQ(seen->parts, 1);
  earn(gpu, 2s);
  EXPECT_EQ(seen->parts, 2);
  earn(gpu, 1h);  // of which a fifth of a second is saved up
  EXPECT_EQ(seen->parts, 3);
  EXPECT_TRUE(seen->is_over);
  const auto next = add_slow_trial(gpu);
  EXPECT_EQ(next->parts, 0);
  earn(gpu, 9s);
  EXPECT_EQ(next->parts, 1);
  gpu.close();
  EXPECT_FALSE(next->is_over);
}

TEST_P(TrialsOnDevice, TakeAllTimeWhereTheyAreEager) {
  Context gpu = start(Tuning::eager);
  EXPECT_TRUE(add_slow_trial(gpu)->is_over);
}

}  // namespace
}  // namespace tessera::test::trials_test
