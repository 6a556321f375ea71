#include "source.h"

#include <filesystem>
#include <stdexcept>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace video {
namespace {

class SceneSource : public Source {
 public:
  explicit SceneSource(int first) : next_(first) {}
  FramePtr next() override { return std::make_shared<Frame>(Frame{.number = next_++}); }
  Size size() const override { return {}; }

 private:
  int next_;
};

class Picture : public Source {
 public:
  explicit Picture(FramePtr frame) : frame_(std::move(frame)) {}
  FramePtr next() override { return frame_; }
  Size size() const override { return frame_->size; }

 private:
  FramePtr frame_;
};

std::unique_ptr<Source> open_picture(const std::string& path) {
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<std::uint8_t, void (*)(void*)> pixels(stbi_load(path.c_str(), &width, &height, &channels, 3),
                                                              stbi_image_free);
  if (!pixels) throw std::runtime_error(path + " is a picture that cannot be read: " + stbi_failure_reason());
  auto frame = std::make_shared<Frame>();
  frame->layout = Frame::Layout::rgb;
  frame->size = {width, height};
  frame->planes[0].assign(pixels.get(), pixels.get() + std::ptrdiff_t{width} * height * 3);
  return std::make_unique<Picture>(std::move(frame));
}

}  // namespace

std::unique_ptr<Source> open_source(const std::string& name, int first) {
  if (name == "scene") return std::make_unique<SceneSource>(first);
  if (name == "camera") return open_camera("/dev/video0");
  if (name.starts_with("camera:")) return open_camera(name.substr(7));
  if (!std::filesystem::is_regular_file(name)) throw std::runtime_error("there is no file " + name);
  for (const char* ending : {".png", ".jpg", ".jpeg", ".bmp", ".tga", ".ppm"})
    if (name.ends_with(ending)) return open_picture(name);
  return open_video(name);
}

}  // namespace video
