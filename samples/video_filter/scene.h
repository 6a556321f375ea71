// The built-in scene, as tensor code: a beach ball that rolls over hills into the sunset.
#pragma once
#include <tessera/tessera.h>

#include "frame.h"

namespace video {

class Scene {
 public:
  Scene(tessera::Context&, Size);

  // [height,width,3], 0 to 1. What moves is a handful of numbers, so that no frame uploads anything.
  tessera::Tensor draw(int frame) const;

 private:
  struct Ball {
    float x, y, radius, turn, stripes;
    tessera::Tensor colour, second_colour;
  };
  tessera::Tensor with_ball(const tessera::Tensor& picture, const Ball&) const;
  tessera::Tensor with_hills(const tessera::Tensor& picture, float height, float swing, float phase,
                             const tessera::Tensor& colour) const;

  float sharpness_;        // one over the size of a pixel: edges are about one pixel soft
  float aspect_;           // x runs from -aspect to aspect, y from -1 at the top to 1
  tessera::Tensor x_, y_;  // [1,width,1], [height,1,1]
  tessera::Tensor sky_;    // what stands still, drawn once
  tessera::Tensor far_, near_, red_, white_, blue_, yellow_;  // colours
};

}  // namespace video
