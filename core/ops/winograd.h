// Convolutions of three by three taps by Winograd's F(2x2, 3x3): four pixels of the result take 16 products of numbers
// instead of 36.
#pragma once
#include <vector>

#include "core/graph/operation.h"
#include "core/kernel/window_parameters.h"

namespace tessera {

// Ways to make such a convolution of floats in stages, one for each way to multiply matrices; none for all others. The
// stages bring the image and the filter into 16 matrices each, multiply these, and bring the products back. Sums have
// other terms than those of the other kernels: their error is a part of the largest numbers of a window, not of each.
std::vector<FamilyStages> winograd_ways(const ConvParameters&, const ConvOptions&, const FamilyUse&);

}  // namespace tessera
