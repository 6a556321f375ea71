// The map family on the host.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/backend.h"

namespace tessera::cpu {

struct HostStorage : Storage {
  std::vector<std::byte> elements;
};

void run_map(const Dispatch&);

}  // namespace tessera::cpu
