// Sums of weighted neighbours, spelled out as one does by hand: loops over constant arrays are slow on many drivers.
#pragma once
#include <string>
#include <vector>

#include "bench/frames/pipeline.h"

namespace tessera::bench {

enum class Along { width, height };

std::vector<float> gaussian_weights(int radius, float sigma);

// A pass that reads `from` by its function `near` or `mirrored`. Each neighbour is loaded: a sample between two of
// them, which saves half of the reads on many GPUs, takes longer than two loads on drivers in software.
Pass blurring_pass(const std::string& from, const std::string& to, const std::vector<float>& weights, Along,
                   const std::string& reader = "near");

}  // namespace tessera::bench
