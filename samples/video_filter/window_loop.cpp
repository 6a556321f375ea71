#include "window_loop.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "support/png.h"
#include <tessera/testing.h>

namespace video {

using tessera::BackendKind;
using Clock = Meter::Clock;

namespace {

std::unique_ptr<Presenter> make_presenter(BackendKind backend, GLFWwindow* window, tessera::ContextOptions options) {
  options.prefer = {backend};
#if VIDEO_FILTER_HAS_WEBGPU
  if (backend == BackendKind::webgpu) return make_webgpu_presenter(window, options);
#endif
#if VIDEO_FILTER_HAS_GLES
  if (backend == BackendKind::gles) return make_gles_presenter(window, options);
#endif
  throw std::runtime_error("the backend " + std::string(to_string(backend)) + " has no window in this build");
}

}  // namespace

WindowLoop::WindowLoop(const Options& options)
    : options_(options),
      source_(open_source(options.source, options.first)),
      window_("video_filter", options.size.value_or(source_->size() == Size{} ? Size{1280, 720} : source_->size()),
              sample::Window::Api::none),
      is_paused_(options.still),
      due_(Clock::now()) {
  window_.on_key = [this](int key) { handle_key(key); };
  try {
    use_backend(options.backend.value_or(BackendKind::webgpu));
  } catch (const std::exception& error) {
    if (options.backend) throw;
    std::fprintf(stderr, "video_filter: no WebGPU in a window here: %s\n", error.what());
    use_backend(BackendKind::gles);
  }
}

WindowLoop::~WindowLoop() { forget_images(); }

void WindowLoop::run() {
  while (window_.is_open()) {
    if (recent_.is_empty() || !is_paused_) advance();
    draw();
    pace();
  }
  for (const auto& [backend, presenter] : presenters_)
    if (presenter) print_kernels(presenter->context());
}

void WindowLoop::handle_key(int key) {
  switch (key) {
    case GLFW_KEY_TAB:
      try {
        use_backend(presenter_->context().backend() == BackendKind::webgpu ? BackendKind::gles : BackendKind::webgpu);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "video_filter: the backend stays: %s\n", error.what());
      }
      break;
    case GLFW_KEY_SPACE: is_paused_ = !is_paused_; break;
    case GLFW_KEY_LEFT: step_filter(-1); break;
    case GLFW_KEY_RIGHT: step_filter(1); break;
    case GLFW_KEY_S: save_picture(); break;
    case GLFW_KEY_F12: tessera::testing::lose_device(presenter_->context()); break;  // to see that it goes on
    default:
      if (key < GLFW_KEY_0 || key > GLFW_KEY_9) return;
      options_.filters = {filters()[static_cast<std::size_t>(key - GLFW_KEY_0)].name};
      forget_images();
  }
  meter_.make_due();  // the title tells at once
}

void WindowLoop::step_filter(int by) {
  const auto& all = filters();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const FilterEntry& entry) { return options_.filters.back() == entry.name; });
  const auto count = static_cast<int>(all.size()), index = static_cast<int>(found - all.begin());
  options_.filters = {all[static_cast<std::size_t>((index + by + count) % count)].name};
  forget_images();
}

void WindowLoop::use_backend(BackendKind backend) {
  std::unique_ptr<Presenter>& wanted = presenters_[backend];
  if (!wanted) wanted = make_presenter(backend, window_.handle(), options_.context_options());
  forget_images();
  Presenter* const before = presenter_;
  if (before) before->hide();
  size_ = window_.size();
  try {
    wanted->show(size_);
    presenter_ = wanted.get();
  } catch (...) {
    wanted->hide();
    if (before) before->show(size_);
    throw;
  }
}

void WindowLoop::advance() {
  try {
    FramePtr frame = source_->next();
    if (!frame) {
      source_->rewind();
      frame = source_->next();
    }
    if (frame) {
      recent_.add(std::move(frame));
      is_new_ = true;
      return;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "video_filter: %s\n", error.what());
  }
  if (recent_.is_empty()) throw std::runtime_error(options_.source + " has no frames");
  is_paused_ = true;  // on the last frame that there was
}

void WindowLoop::draw() {
  const bool has_source_size = source_->size() != Size{};
  if (const Size size = window_.size(); size != size_) {
    size_ = size;
    presenter_->show(size);
    if (!has_source_size) forget_images();
  }
  try {
    const auto begin = Clock::now();
    if (!pipeline_) {
      pipeline_.emplace(presenter_->context(), has_source_size ? source_->size() : size_before(options_.filters, size_),
                        options_.filters);
      filtered_ = pipeline_->replay(recent_);
    } else if (is_new_) {
      filtered_ = (*pipeline_)(recent_.frames().back());
    }
    is_new_ = false;
    const Filtered shown{fitted(filtered_.image, size_), filtered_.kept};
    const auto built = Clock::now() - begin;
    if (meter_.is_due()) set_title(meter_.measure(presenter_->context(), shown.all()));
    const Presented presented = presenter_->present(shown);
    if (presented.is_shown) meter_.add_frame(built + presented.work);
    losses_ = 0;
  } catch (const tessera::Error& error) {
    constexpr int most_losses = 3;
    if (error.code() != tessera::ErrorCode::device_lost || ++losses_ == most_losses) throw;
    forget_images();
    presenter_->replace_device();
  }
}

void WindowLoop::set_title(const std::string& speed) {
  const tessera::DeviceInfo& device = presenter_->context().device();
  const std::string title = "video_filter: " + to_string(options_.filters) + (is_paused_ ? " (paused)" : "") + " on " +
                            std::string(to_string(device.backend)) + ", " + device.name + ": " + speed;
  glfwSetWindowTitle(window_.handle(), title.c_str());
}

// Of the present context.
void WindowLoop::forget_images() {
  pipeline_.reset();
  filtered_ = {};
}

void WindowLoop::save_picture() {
  if (!pipeline_) return;
  const std::string path = "video_filter_" + std::to_string(recent_.frames().back()->number) + ".png";
  sample::write_png(path, size_.width, size_.height, to_u8(fitted(filtered_.image, size_)).read<std::uint8_t>());
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);
}

// No faster than the source is meant to be; a picture that stands still is drawn now and then.
void WindowLoop::pace() {
  constexpr double when_paused = 20;
  due_ += std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(1 / (is_paused_ ? when_paused : source_->rate())));
  const double left = std::chrono::duration<double>(due_ - Clock::now()).count();
  if (left > 0) std::this_thread::sleep_for(std::chrono::duration<double>(left));
  else due_ = Clock::now();
}

void run_in_window(const Options& options) { WindowLoop(options).run(); }

}  // namespace video
