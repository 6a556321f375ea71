// The process's own memory.
#pragma once

namespace tessera {

// Gives freed memory back to the operating system, also where it lies between pieces in use.
void trim_heap();

}  // namespace tessera
