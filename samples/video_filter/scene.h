// The built-in scene, as tensor code: a beach ball that bounces over hills in the sunset.
#pragma once
#include <tessera/tessera.h>

#include "frame.h"

namespace video {

class Scene {
 public:
  Scene(tessera::Context&, Size);

  // [height,width,3], 0 to 1. All of it is one kernel: tensors that stand still, and numbers that move, so that no
  // frame uploads anything.
  tessera::Tensor draw(int frame) const;

 private:
  struct Colour {
    float red, green, blue;
  };
  struct Ball {
    float x, y, radius, turn;
    int stripes;  // 2 or 4 of each colour
    Colour colour, second_colour;
  };
  struct Hills {
    float height, swing, phase;
    Colour colour;
  };
  tessera::Tensor of(const Colour&) const;
  tessera::Tensor with(const tessera::Tensor& picture, const Ball&) const;
  tessera::Tensor with(const tessera::Tensor& picture, const Hills&) const;

  float pixels_;  // in one unit: y runs from -1 at the top to 1, x from -aspect to aspect
  float aspect_;
  // As large as the picture, for elements that lie side by side are read fastest.
  tessera::Tensor x_, y_, is_red_, is_green_, sky_;
};

}  // namespace video
