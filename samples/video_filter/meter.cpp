#include "meter.h"

#include <algorithm>
#include <cstdio>

#include <tessera/monitor.h>

namespace video {

double median_milliseconds(std::vector<std::chrono::steady_clock::duration> times) {
  if (times.empty()) return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return std::chrono::duration<double, std::milli>(*middle).count();
}

void print_kernels(const tessera::Context& gpu) {
  const tessera::Stats stats = gpu.stats();
  std::printf("%s: %d kernels compiled, %d from the cache\n", std::string(to_string(gpu.backend())).c_str(),
              static_cast<int>(stats.kernels_compiled), static_cast<int>(stats.kernels_from_cache));
}

std::string Meter::measure(tessera::Context& gpu, std::span<const tessera::Tensor> frame) {
  double device = 0;
  {
    tessera::Monitor monitor(gpu);
    const auto begin = Clock::now();
    gpu.compute(frame);
    const tessera::MonitorReport report = monitor.report({.wait = true});
    for (const tessera::TimeStats& kernel : report.kernels) device += kernel.total;
    // Where the driver does not tell: until it was done.
    if (report.kernels.empty()) device = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }
  const auto now = Clock::now();
  const double frames = static_cast<double>(host_work_.size());
  char line[100];
  std::snprintf(line, sizeof line, "host %.2f ms, device %.1f ms, %.0f fps", median_milliseconds(host_work_), device,
                frames / std::chrono::duration<double>(now - counted_since_).count());
  since_ = counted_since_ = now;
  host_work_.clear();
  return line;
}

}  // namespace video
