// Reads the text in a picture, prints it and draws a box around each line, in a window or into a file; on WebGPU,
// OpenGL ES or the CPU.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>

#include "meter.h"
#include "pipeline.h"
#include "presenter.h"
#include "reader.h"
#include "source.h"
#include "support/png.h"

namespace {

using tessera::BackendKind;
using tessera::Tensor;

struct Options {
  std::string picture = READ_TEXT_FOLDER "/page.png", models = READ_TEXT_MODELS, out = "read_text.png";
  BackendKind backend = BackendKind::webgpu;
  bool headless = false;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int at = 1; at < argc; ++at) {
    const std::string option = argv[at];
    const auto value = [&] {
      if (++at >= argc) throw std::runtime_error(option + " needs a value; --help explains");
      return std::string(argv[at]);
    };
    if (option == "--help") {
      std::printf(
          "Reads the text in a picture and draws a box around each line.\n"
          "read_text [PICTURE] [--backend webgpu|gles|cpu] [--models FOLDER] [--headless [--out FILE.png]]\n");
      std::exit(0);
    } else if (option == "--backend") {
      const std::string name = value();
      if (name != "webgpu" && name != "gles" && name != "cpu")
        throw std::runtime_error("there is no backend '" + name + "'");
      options.backend = name == "webgpu" ? BackendKind::webgpu : name == "gles" ? BackendKind::gles : BackendKind::cpu;
    } else if (option == "--models") {
      options.models = value();
    } else if (option == "--out") {
      options.out = value();
    } else if (option == "--headless") {
      options.headless = true;
    } else if (!option.starts_with("-")) {
      options.picture = option;
    } else {
      throw std::runtime_error("unknown option '" + option + "'; --help lists them");
    }
  }
  return options;
}

// 1 along the borders of the boxes, [height,width,1].
Tensor borders(tessera::Context& gpu, video::Size size, const std::vector<Line>& lines) {
  std::vector<float> mask(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height));
  for (const Line& line : lines) {
    const std::array<Point, 4> corners = line.box.corners();
    for (std::size_t i = 0; i < 4; ++i) {
      const Point a = corners[i], b = corners[(i + 1) % 4];
      constexpr int steps = 4096;
      for (int k = 0; k <= steps; ++k)
        for (const int thick : {0, 1}) {
          const int x = static_cast<int>(a.x + (b.x - a.x) * k / steps) + thick,
                    y = static_cast<int>(a.y + (b.y - a.y) * k / steps) + thick;
          if (x < 0 || y < 0 || x >= size.width || y >= size.height) continue;
          mask[static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) + static_cast<std::size_t>(x)] = 1;
        }
    }
  }
  return gpu.tensor({size.height, size.width, 1}, mask);
}

// The picture with its boxes; the text goes to stdout.
Tensor read(tessera::Context& gpu, const Options& options, const video::FramePtr& frame) {
  video::Pipeline pipeline(gpu, frame->size, {"none"});
  const Tensor image = pipeline(frame).image;
  TextReader reader(gpu, options.models);
  const std::vector<Line> lines = reader(image);
  for (const Line& line : lines)
    std::printf("%4.0f,%-4.0f %.2f  %s\n", line.box.centre.x, line.box.centre.y, line.confidence, line.text.c_str());
  std::fflush(stdout);
  const Tensor red = gpu.tensor({3}, {0.9f, 0.1f, 0.1f});
  return video::mix(image, broadcast_to(red, image.shape()), borders(gpu, frame->size, lines)).compute();
}

std::unique_ptr<video::Presenter> make_presenter(const Options& options, sample::Window& window) {
#if VIDEO_FILTER_HAS_WEBGPU
  if (options.backend == BackendKind::webgpu)
    return video::make_webgpu_presenter(window.handle(), {.prefer = {BackendKind::webgpu}});
#endif
#if VIDEO_FILTER_HAS_GLES
  if (options.backend == BackendKind::gles)
    return video::make_gles_presenter(window.handle(), {.prefer = {BackendKind::gles}});
#endif
  throw std::runtime_error("this backend has no window in this build; --headless does without");
}

void show(const Options& options, const video::FramePtr& frame) {
  sample::Window window("read_text", frame->size, sample::Window::Api::none);
  const std::unique_ptr<video::Presenter> presenter = make_presenter(options, window);
  video::Size size{};
  Tensor picture;
  while (window.is_open()) {
    if (const video::Size now = window.size(); now != size) presenter->show(size = now);
    if (picture.is_empty()) picture = read(presenter->context(), options, frame);
    presenter->present({.image = video::fitted(picture, size), .kept = {}});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void run(const Options& options) {
  if (!std::filesystem::exists(std::filesystem::path(options.models) / "detector.onnx"))
    throw std::runtime_error("there are no networks in " + options.models +
                             ": the build fetches them with TESSERA_SAMPLE_MODELS");
  const video::FramePtr frame = video::open_source(options.picture, 0)->next();
  if (!frame || frame->size == video::Size{}) throw std::runtime_error(options.picture + " is no picture");
  if (!options.headless) return show(options, frame);
  tessera::Context gpu = tessera::Context::create({.prefer = {options.backend}});
  const Tensor picture = read(gpu, options, frame);
  sample::write_png(options.out, frame->size.width, frame->size.height, to_u8(picture).read<std::uint8_t>());
  std::printf("%s, on %s\n", options.out.c_str(), gpu.device().name.c_str());
  video::print_kernels(gpu);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "read_text: %s\n", error.what());
    return 1;
  }
}
