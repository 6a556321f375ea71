#include "models/boxes.h"

#include <algorithm>
#include <numeric>

namespace tessera::onnx {

namespace {

struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

double shared_part(const Box& a, const Box& b) {  // intersection over union
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top),
               width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double common = std::max(0.0, height) * std::max(0.0, width), together = a.area() + b.area() - common;
  return together > 0 ? common / together : 0;
}

Box box_at(std::span<const double> corners, std::int64_t box) {
  const double* b = corners.data() + box * 4;
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

}  // namespace

std::vector<std::int64_t> kept_boxes(std::span<const double> corners, std::span<const double> scores, std::int64_t most,
                                     double overlap, double least) {
  const auto score_of = [&](std::int64_t box) { return scores[static_cast<std::size_t>(box)]; };
  std::vector<std::int64_t> order(scores.size()), kept;
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](std::int64_t box) { return !(score_of(box) > least); });
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) { return score_of(a) > score_of(b); });
  for (const std::int64_t box : order) {
    if (static_cast<std::int64_t>(kept.size()) >= most) break;
    const bool is_covered = std::ranges::any_of(kept, [&](std::int64_t better) {
      return shared_part(box_at(corners, box), box_at(corners, better)) > overlap;
    });
    if (!is_covered) kept.push_back(box);
  }
  return kept;
}

}  // namespace tessera::onnx
