#include "core/kernel/backend.h"

// In short what core/kernel/backend.h has.
namespace in_short {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#include "adding_a_backend/storage.inc"
#pragma GCC diagnostic pop
}  // namespace in_short
