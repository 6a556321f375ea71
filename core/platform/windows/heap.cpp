#include "core/platform/heap.h"

#include <malloc.h>

namespace tessera {

void trim_heap() { _heapmin(); }

}  // namespace tessera
