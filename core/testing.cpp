#include <tessera/testing.h>

#include "core/context_impl.h"

namespace tessera::testing {

void lose_device(Context& context) {
  ContextImpl& impl = ContextAccess::impl(context);
  const Session session(impl);
  impl.backend->lose();
}

void fail_allocation(Context& context, int nth) {
  if (nth < 1)
    throw Error(
        ErrorCode::invalid_argument,
        "fail_allocation: the allocation to fail is the 1st or a later one, not number " + std::to_string(nth) + ".");
  ContextImpl& impl = ContextAccess::impl(context);
  const Session session(impl);
  impl.pool->fail_allocation(nth);
}

}  // namespace tessera::testing
