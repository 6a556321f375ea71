// The order of a plan's steps. Any in which each comes after those whose results it reads gives the same, but not all
// have as much in memory at a time.
#pragma once
#include "core/run/fuse.h"

namespace tessera {

// Steps that make more than they are the last to read, such as enlargements, come just before the first step that reads
// their results, where never more is alive at a time for that.
void run_late(Plan&, const Graph&);

}  // namespace tessera
