// The hook that scopes hang on.
#pragma once
#include <atomic>

#include "core/graph/node.h"

namespace tessera {

inline std::atomic<int> open_scopes{0};  // of all threads
void note_in_own_scopes(Node&);

inline void note_in_scopes(Node& node) {  // made by this thread; costs one look where no scope is open
  if (open_scopes.load(std::memory_order_relaxed) > 0) note_in_own_scopes(node);
}

}  // namespace tessera
