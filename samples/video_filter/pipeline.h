// From frames to filtered images, on one context.
#pragma once
#include <deque>
#include <optional>

#include "filters.h"
#include "frame.h"
#include "scene.h"

namespace video {

// Which frame is shown, and the ones before it that filters look back upon. It is in host memory and belongs to no
// device, so that a pipeline on another one takes over where the last one was.
class Recent {
 public:
  void add(FramePtr);
  const std::deque<FramePtr>& frames() const { return frames_; }  // the newest last
  bool is_empty() const { return frames_.empty(); }

 private:
  std::deque<FramePtr> frames_;
};

// Not computed yet, so that it can be part of one submission with what is done with it.
struct Filtered {
  tessera::Tensor image;
  std::vector<tessera::Tensor> kept;  // what later frames need too: to be computed in that submission

  std::vector<tessera::Tensor> all() const;
};

class Pipeline {
 public:
  // `size` is that of the images: of the frames, or any for the built-in scene.
  Pipeline(tessera::Context&, Size, const std::vector<std::string>& filters);

  Filtered operator()(const FramePtr&);  // the next frame
  // The same of an image of that size that is on the device already, as frame `number`.
  Filtered operator()(const tessera::Tensor& image, int number) const;
  // Goes through the frames before the newest one, for filters that look back, and gives the newest one.
  Filtered replay(const Recent&);

 private:
  tessera::Tensor image_of(const Frame&);

  tessera::Context gpu_;
  Size size_;
  std::size_t looks_back_;
  Chain chain_;
  std::optional<Scene> scene_;  // made when first needed
  FramePtr last_;               // a picture that stands still is uploaded once
  tessera::Tensor last_image_;
};

// The image in the middle of a window, as large as fits, on black.
tessera::Tensor fitted(const tessera::Tensor& image, Size window);

}  // namespace video
