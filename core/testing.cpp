#include <tessera/testing.h>

#include "core/context_impl.h"

namespace tessera::testing {

void lose_device(Context& context) {
  ContextImpl& impl = ContextAccess::impl(context);
  const Session session(impl);
  impl.backend->lose();
}

namespace {

void require_number(const char* function, const char* what, int nth) {
  if (nth < 1)
    throw Error(ErrorCode::invalid_argument, std::string(function) + ": the " + what +
                                                 " to fail is the 1st or a later one, not number " +
                                                 std::to_string(nth) + ".");
}

}  // namespace

void fail_allocation(Context& context, int nth) {
  require_number("fail_allocation", "allocation", nth);
  ContextImpl& impl = ContextAccess::impl(context);
  const Session session(impl);
  impl.pool->fail_allocation(nth);
}

void fail_sharing(Context& context, int nth) {
  require_number("fail_sharing", "crossing", nth);
  ContextImpl& impl = ContextAccess::impl(context);
  const Session session(impl);
  impl.crossings.fail(nth);
}

}  // namespace tessera::testing
