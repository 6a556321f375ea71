#include "meter.h"

#include <cstdio>

#include <tessera/monitor.h>

namespace video {

void Meter::add_frame(Clock::duration host_work) {
  host_work_ += host_work;
  ++frames_;
}

std::string Meter::measure(tessera::Context& gpu, std::span<const tessera::Tensor> frame) {
  double device = 0;
  {
    tessera::Monitor monitor(gpu);
    gpu.compute(frame);
    for (const tessera::TimeStats& kernel : monitor.report().kernels) device += kernel.total;
  }
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - counted_since_).count();
  const double host = std::chrono::duration<double, std::milli>(host_work_).count();
  char line[100];
  std::snprintf(line, sizeof line, "host %.2f ms, device %.1f ms, %.0f fps", frames_ ? host / frames_ : 0.0, device,
                frames_ / seconds);
  since_ = counted_since_ = now;
  host_work_ = {};
  frames_ = 0;
  return line;
}

}  // namespace video
