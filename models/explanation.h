// What explain() tells of nodes beyond their trace.
#pragma once
#include <vector>

#include "models/trace.h"

namespace tessera::onnx {

// The `op` of what is no node: an output whose axes are put into the order of the file.
inline constexpr const char* output_row = "output";

// The kernels and costs of the nodes, as the program's plan has them.
void add_work(const Program&, std::vector<Reported>&);

}  // namespace tessera::onnx
