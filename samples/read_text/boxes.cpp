#include "boxes.h"

#include <algorithm>
#include <cmath>

namespace {

constexpr float is_text = 0.3f;      // a pixel that is as likely
constexpr double least_score = 0.6;  // of a box: the mean over its pixels
constexpr double least_side = 3;     // in pixels
constexpr double growth = 1.5;       // the network marks the middle of lines only

double cross(Point o, Point a, Point b) { return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x); }

std::vector<Point> convex_hull(std::vector<Point> points) {
  std::sort(points.begin(), points.end(), [](Point a, Point b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  std::vector<Point> hull;
  for (int side = 0; side < 2; ++side) {  // the lower one from left to right, then the upper one back
    const std::size_t begin = hull.size();
    for (const Point& point : points) {
      while (hull.size() >= begin + 2 && cross(hull[hull.size() - 2], hull.back(), point) <= 0) hull.pop_back();
      hull.push_back(point);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

// One side of the smallest rectangle lies on the hull.
TextBox smallest_rectangle(const std::vector<Point>& hull) {
  TextBox best{};
  double least = -1;
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const Point a = hull[i], b = hull[(i + 1) % hull.size()];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    if (length == 0) continue;
    Point u{(b.x - a.x) / length, (b.y - a.y) / length};
    if (std::fabs(u.x) < std::fabs(u.y)) u = {-u.y, u.x};  // lines are rather level
    if (u.x < 0) u = {-u.x, -u.y};
    double low_u = 1e30, high_u = -1e30, low_v = 1e30, high_v = -1e30;
    for (const Point& point : hull) {
      const double along = point.x * u.x + point.y * u.y, across = point.y * u.x - point.x * u.y;
      low_u = std::min(low_u, along), high_u = std::max(high_u, along);
      low_v = std::min(low_v, across), high_v = std::max(high_v, across);
    }
    const double area = (high_u - low_u) * (high_v - low_v);
    if (least >= 0 && area >= least) continue;
    least = area;
    const double along = (low_u + high_u) / 2, across = (low_v + high_v) / 2;
    best = {.centre = {along * u.x - across * u.y, along * u.y + across * u.x},
            .direction = u,
            .width = high_u - low_u,
            .height = high_v - low_v};
  }
  return best;
}

}  // namespace

std::array<Point, 4> TextBox::corners() const {
  const auto at = [&](double along, double across) -> Point {
    return {centre.x + along * direction.x - across * direction.y,
            centre.y + along * direction.y + across * direction.x};
  };
  const double w = width / 2, h = height / 2;
  return {at(-w, -h), at(w, -h), at(w, h), at(-w, h)};
}

std::vector<TextBox> find_boxes(const std::vector<float>& likely, int width, int height) {
  std::vector<TextBox> boxes;
  std::vector<bool> is_seen(likely.size(), false);
  const auto place = [&](int x, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      if (is_seen[place(x, y)] || likely[place(x, y)] <= is_text) continue;
      std::vector<std::pair<int, int>> open{{x, y}};  // pixels that touch
      is_seen[place(x, y)] = true;
      std::vector<Point> corners;
      double total = 0, count = 0;
      while (!open.empty()) {
        const auto [px, py] = open.back();
        open.pop_back();
        total += static_cast<double>(likely[place(px, py)]), ++count;
        for (const int dx : {0, 1})
          for (const int dy : {0, 1}) corners.push_back({static_cast<double>(px + dx), static_cast<double>(py + dy)});
        for (int ny = std::max(py - 1, 0); ny <= std::min(py + 1, height - 1); ++ny)
          for (int nx = std::max(px - 1, 0); nx <= std::min(px + 1, width - 1); ++nx)
            if (!is_seen[place(nx, ny)] && likely[place(nx, ny)] > is_text) {
              is_seen[place(nx, ny)] = true;
              open.emplace_back(nx, ny);
            }
      }
      TextBox box = smallest_rectangle(convex_hull(std::move(corners)));
      if (total / count < least_score || std::min(box.width, box.height) < least_side) continue;
      const double margin = box.width * box.height * growth / (2 * (box.width + box.height));
      box.width += 2 * margin, box.height += 2 * margin;
      boxes.push_back(box);
    }
  std::sort(boxes.begin(), boxes.end(),
            [](const TextBox& a, const TextBox& b) { return a.corners()[0].y < b.corners()[0].y; });
  return boxes;
}
