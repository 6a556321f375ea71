// What a program's plan tells of its parts, for those who explain where the work goes.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tessera/program.h>

namespace tessera {

struct PartWork {
  std::vector<std::string> kernels;  // that the part is in: "#2 conv_texel > add", by their order in a run
  std::int64_t operations = 0;       // multiply-adds of products, and one for each element of other work
  std::int64_t bytes = 0;            // read and written; between operations in one kernel there are none
};

// The work of each part of a program whose body made these results, part by part in their order. Nothing of what was
// computed when the program was recorded is any part's.
TESSERA_API std::vector<PartWork> work_of_parts(const Program&, std::span<const std::vector<Tensor>> results);

}  // namespace tessera
