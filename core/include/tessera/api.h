// Marks the functions and classes that libtessera exports; all others stay inside the library.
#pragma once

#if defined(TESSERA_BUILDING_SHARED) || defined(TESSERA_SHARED)
#define TESSERA_API __attribute__((visibility("default")))
#else
#define TESSERA_API
#endif
