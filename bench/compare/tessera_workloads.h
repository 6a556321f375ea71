// tessera's side of bench/compare: workloads as one would write them without a thought of speed. Each repetition builds
// the expression and computes it.
#pragma once
#include <filesystem>

#include <tessera/tessera.h>

#include "peer.h"

namespace compare {

Make tessera_workloads(const tessera::Context&, const std::filesystem::path& models);

}  // namespace compare
