// Marks the functions and classes that tessera's libraries export; all others stay inside. Static libraries export
// nothing.
#pragma once

#if !defined(TESSERA_BUILDING_SHARED) && !defined(TESSERA_SHARED)
#define TESSERA_EXPORTED
#define TESSERA_IMPORTED
#elif defined(_WIN32)
#define TESSERA_EXPORTED __declspec(dllexport)
#define TESSERA_IMPORTED __declspec(dllimport)
#else
#define TESSERA_EXPORTED __attribute__((visibility("default")))
#define TESSERA_IMPORTED TESSERA_EXPORTED
#endif

#ifdef TESSERA_BUILDING_SHARED
#define TESSERA_API TESSERA_EXPORTED
#else
#define TESSERA_API TESSERA_IMPORTED
#endif

// Of the component models, which is a library of its own.
#ifdef TESSERA_BUILDING_MODELS
#define TESSERA_MODELS_API TESSERA_EXPORTED
#else
#define TESSERA_MODELS_API TESSERA_IMPORTED
#endif
