#include "core/platform/heap.h"

namespace tessera {

void trim_heap() {}  // a page's memory grows and never shrinks

}  // namespace tessera
