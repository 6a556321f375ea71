#include "pipeline.h"

#include <algorithm>

namespace video {

using tessera::Tensor;

void Recent::add(FramePtr frame) {
  constexpr std::size_t most = 16;  // chains that look back further begin anew
  frames_.push_back(std::move(frame));
  if (frames_.size() > most) frames_.pop_front();
}

Pipeline::Pipeline(tessera::Context& gpu, Size size, const std::vector<std::string>& filters)
    : gpu_(gpu), size_(size), looks_back_(looks_back(filters)), chain_(gpu, size, filters) {}

Tensor Pipeline::image_of(const Frame& frame) {
  const auto [width, height] = frame.size;
  const int half_width = (width + 1) / 2, half_height = (height + 1) / 2;
  const auto& planes = frame.planes;
  switch (frame.layout) {
    case Frame::Layout::rgb: return to_float(gpu_.tensor({height, width, 3}, planes[0]));
    case Frame::Layout::nv12:
      return nv12_to_rgb(gpu_.tensor({height, width}, planes[0]), gpu_.tensor({half_height, half_width, 2}, planes[1]),
                         frame.yuv);
    case Frame::Layout::yuv420:
      return yuv420_to_rgb(gpu_.tensor({height, width}, planes[0]), gpu_.tensor({half_height, half_width}, planes[1]),
                           gpu_.tensor({half_height, half_width}, planes[2]), frame.yuv);
    case Frame::Layout::scene: break;
  }
  if (!scene_) scene_.emplace(gpu_, size_);
  return scene_->draw(frame.number);
}

std::vector<Tensor> Filtered::all() const {
  std::vector<Tensor> tensors = kept;
  tensors.push_back(image);
  return tensors;
}

Filtered Pipeline::operator()(const FramePtr& frame) {
  if (frame != last_) last_image_ = image_of(*frame);
  last_ = frame;
  return (*this)(last_image_, frame->number);
}

Filtered Pipeline::operator()(const Tensor& image, int number) const {
  Filtered filtered;
  filtered.image = chain_(image, number, filtered.kept);
  return filtered;
}

Filtered Pipeline::replay(const Recent& recent) {
  const std::deque<FramePtr>& frames = recent.frames();
  const std::size_t needed = std::min(frames.size(), looks_back_ + 1);
  for (std::size_t i = frames.size() - needed; i + 1 < frames.size(); ++i) gpu_.compute((*this)(frames[i]).kept);
  return (*this)(frames.back());
}

Tensor fitted(const Tensor& image, Size window) {
  const auto height = static_cast<int>(image.shape()[0]), width = static_cast<int>(image.shape()[1]);
  if (Size{width, height} == window) return image;
  const double scale = std::min(static_cast<double>(window.width) / width, static_cast<double>(window.height) / height);
  const int fit_height = std::clamp(static_cast<int>(height * scale + 0.5), 1, window.height);
  const int fit_width = std::clamp(static_cast<int>(width * scale + 0.5), 1, window.width);
  const int top = (window.height - fit_height) / 2, left = (window.width - fit_width) / 2;
  return pad(resize_bilinear(image, fit_height, fit_width),
             {{top, window.height - fit_height - top}, {left, window.width - fit_width - left}, {}});
}

}  // namespace video
