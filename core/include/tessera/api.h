// Marks what libtessera exports; everything else stays inside the library.
#pragma once

#if defined(TESSERA_BUILDING_SHARED) || defined(TESSERA_SHARED)
#define TESSERA_API __attribute__((visibility("default")))
#else
#define TESSERA_API
#endif
