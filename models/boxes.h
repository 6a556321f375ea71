// Suppression of boxes that overlap better ones.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::onnx {

// Which of the boxes, two corners of four numbers each, are kept, the best first: at most `most`, whose scores are
// above `least` and whose intersection with one that is kept already is at most `overlap` of their union.
std::vector<std::int64_t> kept_boxes(std::span<const double> corners, std::span<const double> scores, std::int64_t most,
                                     double overlap, double least);

}  // namespace tessera::onnx
