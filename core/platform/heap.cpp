#include "core/platform/heap.h"

#include <cstdlib>  // which tells whether the C library is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace tessera {

void trim_heap() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace tessera
