// WebGL2 as the OpenGL ES 3.0 that the rest of this backend calls.
#pragma once
#include <tessera/gles.h>

namespace tessera::gles {

// Finds the functions of the context that is current. Those that WebGL2 lacks, or has with another meaning, are made of
// others:
// - buffers are not mapped but copied;
// - a fence is reached after the page's code has returned, so a wait for one waits for a pixel instead;
// - the name of the device is the unmasked one, where the browser tells it;
// - objects of the page's own that are bound have names (page_objects.h);
// - primitives restart at all times, and who asks is told so;
// - states that Chromium would ask its GPU process for are known where enable_extensions() watches them;
// - a lost context has the error code of OpenGL ES.
const Loader& webgl_loader();

// Enables what tessera uses of a context that others have made; a context has all extensions otherwise. Watches states
// of the context from now on that browsers tell only after all work before.
void enable_extensions();

}  // namespace tessera::gles
