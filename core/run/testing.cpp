#include <tessera/testing.h>

#include "core/run/context_impl.h"
#include "core/run/program.h"
#include "core/run/tuning_clock.h"

namespace tessera::testing {
namespace {

void check_nth(const char* op, const char* what, int nth) {
  if (nth < 1)
    throw Error(ErrorCode::invalid_argument, std::string(op) + ": it takes the 1st " + what +
                                                 " from now or a later one, not number " + std::to_string(nth) + ".");
}

}  // namespace

void lose_device(Context& context) {
  const LockedContext locked(context);
  locked->backend->lose();
}

void lose_device(Context& context, Moment moment, int nth) {
  check_nth("lose_device", "submission", nth);
  const LockedContext locked(context);
  locked->recovery.lose_device_at(nth, moment == Moment::after);
}

void fail_allocation(Context& context, int nth) {
  check_nth("fail_allocation", "allocation", nth);
  const LockedContext locked(context);
  locked->pool->fail_allocation(nth);
}

void set_costs(const Program& program, std::vector<double> costs) {
  ProgramImpl& impl = ProgramAccess::impl(program);
  const LockedContext locked(*impl.context);
  impl.costs = std::make_shared<StepCosts>(*impl.plan, impl.graph, *locked->backend);
  impl.costs_for_tests = std::move(costs);
}

void take_all_tiers(Context& context) {
  const LockedContext locked(context);
  locked->trials.take_all(*locked);
  locked->variants.clear();
}

void try_only(Context& context, Tried tried) {
  const LockedContext locked(context);
  locked->trials.try_only(tried == Tried::tiers, tried == Tried::variants);
  locked->plans.clear();
}

void stop_clock() { stop_tuning_clock(); }

void move_clock(std::chrono::milliseconds by) { move_tuning_clock(by); }

void finish_tiers(Context& context) {
  {
    const LockedContext locked(context);
    if (locked->is_hosts || !locked->works_beside())
      while (locked->trials.work(*locked) != Trial::Turn::over) {
      }
  }
  ContextAccess::impl(context).background.wait_until_idle();
}

void take_variants(Context& context, std::size_t number) {
  const LockedContext locked(context);
  locked->variants.force(number);
}

void fail_sharing(Context& context, int nth) {
  check_nth("fail_sharing", "crossing", nth);
  const LockedContext locked(context);
  locked->images.fail(nth);
}

}  // namespace tessera::testing
