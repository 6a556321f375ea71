// The hook that scopes hang on.
#pragma once
#include "core/graph/node.h"

namespace tessera {

void note_in_scopes(Node&);  // made by this thread; costs one look where no scope is open

}  // namespace tessera
