// The hook that scopes hang on.
#pragma once
#include "core/node.h"

namespace tessera {

struct ScopeAccess {
  static void note(Node& made);  // by this thread; costs one look where no scope is open
};

}  // namespace tessera
