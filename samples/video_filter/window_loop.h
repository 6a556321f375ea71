// The window with its keys. What is shown belongs to no device: the source, the frames that filters look back upon, the
// filters, whether it is paused. So another backend, or a new device after a loss, takes over where the last one was.
#pragma once
#include <map>
#include <memory>
#include <optional>

#include "meter.h"
#include "options.h"
#include "pipeline.h"
#include "presenter.h"
#include "source.h"

namespace video {

class WindowLoop {
 public:
  explicit WindowLoop(const Options&);
  ~WindowLoop();
  void run();

 private:
  void handle_key(int key);
  void step_filter(int by);
  void use_backend(tessera::BackendKind);
  void advance();
  void draw();
  void set_title(const std::string& speed);
  void forget_images();
  void save_picture();
  void pace();

  Options options_;
  std::unique_ptr<Source> source_;
  sample::Window window_;
  std::map<tessera::BackendKind, std::unique_ptr<Presenter>> presenters_;  // those that were used so far
  Presenter* presenter_ = nullptr;
  Size size_{};
  bool is_paused_, is_new_ = false;  // whether the newest frame has not been drawn yet
  Recent recent_;
  std::optional<Pipeline> pipeline_;  // on the presenter's context; none: to be made
  Filtered filtered_;                 // what it gave last

  Meter meter_;
  Meter::Clock::time_point due_;  // when the next frame is
  int losses_ = 0;                // in a row
};

void run_in_window(const Options&);

}  // namespace video
