#include <tessera/testing.h>

#include "core/context_impl.h"

namespace tessera::testing {
namespace {

void check_nth(const char* op, const char* what, int nth) {
  if (nth < 1)
    throw Error(ErrorCode::invalid_argument, std::string(op) + ": it takes the 1st " + what +
                                                 " from now or a later one, not number " + std::to_string(nth) + ".");
}

}  // namespace

void lose_device(Context& context) {
  ContextImpl& impl = ContextAccess::impl(context);
  const Session session(impl);
  impl.backend->lose();
}

void lose_device(Context& context, Moment moment, int nth) {
  check_nth("lose_device", "submission", nth);
  ContextImpl& impl = ContextAccess::impl(context);
  const Session session(impl);
  impl.loss_on_demand = {nth, moment == Moment::after};
}

void fail_allocation(Context& context, int nth) {
  check_nth("fail_allocation", "allocation", nth);
  ContextImpl& impl = ContextAccess::impl(context);
  const Session session(impl);
  impl.pool->fail_allocation(nth);
}

void fail_sharing(Context& context, int nth) {
  check_nth("fail_sharing", "crossing", nth);
  ContextImpl& impl = ContextAccess::impl(context);
  const Session session(impl);
  impl.crossings.fail(nth);
}

}  // namespace tessera::testing
