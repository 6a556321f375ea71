// Rendering off screen, into files.
#pragma once
#include "options.h"

namespace video {

void run_headless(const Options&);

}  // namespace video
