// tests/gles_video_test.cpp runs what this document shows, but for FFmpeg's frames and for WebGPU.
#include <tessera/tessera.h>

#include "interop_video/dma_bufs.inc"
#include "interop_video/dma_bufs_2.inc"
#include "interop_video/eglimages.inc"
#include "interop_video/ffmpeg.inc"
