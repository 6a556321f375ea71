// From a map of how likely each pixel is text to the boxes of lines, as "Real-time Scene Text Detection with
// Differentiable Binarization" has it.
#pragma once
#include <array>
#include <vector>

struct Point {
  double x, y;
};

// A rectangle, perhaps slanted: its text runs along `direction`, to the right.
struct TextBox {
  Point centre, direction;
  double width, height;

  std::array<Point, 4> corners() const;  // from the upper left one on, clockwise
};

// `likely` has a number of 0 to 1 for each pixel. Boxes come from the top to the bottom.
std::vector<TextBox> find_boxes(const std::vector<float>& likely, int width, int height);
