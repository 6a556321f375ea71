// Monitor: where time and memory go.
//
//   tessera::Monitor monitor(gpu);                       // from here on
//   {
//     const auto frame = monitor.span("frame");          // until the end of the block
//     classify(image).read();
//     monitor.log("fps", 1000 / frame.milliseconds());   // a number of your own
//   }
//   std::puts(to_string(monitor.report()).c_str());      // kernels, host work, spans, metrics, memory
//   monitor.write_trace("frame.json");                   // for Perfetto or chrome://tracing
//
// Without a monitor nothing is measured and nothing is slower. With one, each kernel is a pass of its own, so that the
// device can tell when it began and ended. Any thread may call.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/context.h>

namespace tessera {

struct MonitorOptions {
  bool kernel_times = true;          // false: only the host's work is timed, and kernels share passes as usual
  std::size_t max_events = 1 << 18;  // of the trace; the report counts later ones, which the trace leaves out
};

// Milliseconds.
struct TimeStats {
  std::string name;
  std::uint64_t count = 0;
  double total = 0, shortest = 0, longest = 0;
};

// The numbers that Monitor::log got under this name.
struct MetricStats {
  std::string name;
  std::uint64_t count = 0;
  double last = 0, mean = 0, smallest = 0, largest = 0;
};

struct MonitorReport {
  DeviceInfo device;
  DeviceState state;  // now, with the load by all programs where the system tells
  MemoryInfo memory;
  Stats stats;                        // of the context
  double milliseconds;                // since the monitor was made
  std::optional<double> device_busy;  // the part of that time in which kernels of this context ran; nothing where
                                      // the device does not tell, or kernel_times is off
  std::vector<TimeStats> kernels;     // on the device, the one with the largest total first; empty where not known
  // Work of the host's: "plan", "upload", "encode", "submit", which compiles too, and "read", which waits.
  std::vector<TimeStats> host;
  std::vector<TimeStats> spans;
  std::vector<MetricStats> metrics;  // by name
  std::uint64_t events_dropped;      // by the trace, for max_events
};
TESSERA_API std::string to_string(const MonitorReport&);  // lines for a log
TESSERA_API std::string to_json(const MonitorReport&);    // one object; unknown values are null

struct ReportOptions {
  bool wait = false;  // for the device, so that the report has the times of all submitted work
};

// One submission: a call of compute(), read(), to_texture() and the like, or a slice.
struct CallTime {
  std::string span;  // the innermost one that was open on the calling thread; empty where there was none
  double submitted;  // when, in milliseconds since the monitor was made, on the host's clock
  double device;     // milliseconds from the beginning of the first kernel to the end of the last
  struct Kernel {
    std::string name;
    double begin, end;  // milliseconds since the beginning of the first one
  };
  std::vector<Kernel> kernels{};
};

struct MonitorState;

class TESSERA_API Monitor {
 public:
  explicit Monitor(Context&, const MonitorOptions& = {});  // invalid_argument where the context has one already
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // Time from its construction until end() or its destructor, on its thread; it may outlive the monitor.
  class TESSERA_API Span {
   public:
    Span(Span&&) noexcept = default;
    Span& operator=(Span&&) = delete;
    ~Span();

    double milliseconds() const;  // so far, or all of it once it has ended
    double end();                 // now; gives milliseconds()

   private:
    friend class Monitor;
    Span(std::shared_ptr<MonitorState>, std::string name);
    std::shared_ptr<MonitorState> state_;  // null once it has ended
    std::string name_;
    std::uint64_t number_;
    double begin_, milliseconds_ = 0;
  };
  [[nodiscard]] Span span(std::string name);

  // A number of your own, such as frames per second, for the report and as a graph in the trace. Infinities and NaN are
  // left out.
  void log(std::string_view name, double value);

  MonitorReport report(const ReportOptions& = {});  // as far as times are known by now

  // For a host's profiler, once a frame: the calls whose times have come from the device since the last time, in their
  // order, a few frames late. Does not wait. The last 1024 are kept for a host that does not ask. Work in a host's
  // command encoder has no times.
  std::vector<CallTime> take_calls();

  // In the Chrome trace event format. Kernels are shown from the time of their submission on: devices have clocks of
  // their own. Waits for the device. Throws io where the file cannot be written; an old file stays whole then.
  void write_trace(const std::filesystem::path&);

 private:
  std::shared_ptr<ContextImpl> context_;
  std::shared_ptr<MonitorState> state_;
};

}  // namespace tessera
