// Plans work on images: which operations pixel kernels compute, together or one after the other.
#pragma once
#include "core/run/fuse.h"

namespace tessera {

struct PixelPlan {
  std::vector<Step> steps;     // in no order
  std::vector<bool> is_taken;  // items that other kernels must not compute
  std::vector<StorageSpec> own_storages;
  std::uint64_t ops_fused = 0;
};

PixelPlan plan_pixels(const Graph&, const Limits&);

}  // namespace tessera
