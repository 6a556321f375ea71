// tests/vulkan_images_test.cpp runs what this document shows.
#include <tessera/tessera.h>

#include "interop_vulkan/a_context_on_the_host_s_gpu.inc"
#include "interop_vulkan/a_frame.inc"
#include "interop_vulkan/images.inc"
