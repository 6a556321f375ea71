// Monitor: where time and memory go.
//
//   tessera::Monitor monitor(gpu);                       // from here on
//   {
//     const auto frame = monitor.span("frame");          // until the end of the block
//     classify(image).read();
//   }
//   std::puts(to_string(monitor.report()).c_str());      // kernels, host work, spans, memory
//   monitor.write_trace("frame.json");                   // for Perfetto or chrome://tracing
//
// Without a monitor nothing is measured and nothing is slower. With one, each kernel is a pass of its own, so that the
// device can tell when it began and ended. Any thread may call.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/context.h>

namespace tessera {

struct MonitorOptions {
  bool kernel_times = true;          // false: only what the host can see, and kernels share passes as usual
  std::size_t max_events = 1 << 18;  // for the trace; what comes after is counted in the report and left out there
};

// Milliseconds.
struct TimeStats {
  std::string name;
  std::uint64_t count = 0;
  double total = 0, shortest = 0, longest = 0;
};

struct MonitorReport {
  DeviceInfo device;
  DeviceState state;  // now, with the load by all programs where the system tells
  MemoryInfo memory;
  Stats stats;                        // of the context
  double milliseconds;                // since the monitor was made
  std::optional<double> device_busy;  // which part of that time kernels of this context were at work; nothing where
                                      // the device does not tell, or kernel_times is off
  std::vector<TimeStats> kernels;     // on the device, the one with the largest total first; empty where not known
  // Work of the host's: "plan", "upload", "encode", "submit", which compiles too, and "read", which waits.
  std::vector<TimeStats> host;
  std::vector<TimeStats> spans;
  std::uint64_t events_dropped;  // by the trace, for max_events
};
TESSERA_API std::string to_string(const MonitorReport&);  // lines for a log
TESSERA_API std::string to_json(const MonitorReport&);    // one object; what is not known is null

struct MonitorState;

class TESSERA_API Monitor {
 public:
  explicit Monitor(Context&, const MonitorOptions& = {});  // invalid_argument where the context has one already
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // Time between its construction and its end, on its thread; it may outlive the monitor.
  class TESSERA_API Span {
   public:
    Span(Span&&) noexcept = default;
    Span& operator=(Span&&) = delete;
    ~Span();

   private:
    friend class Monitor;
    Span(std::shared_ptr<MonitorState>, std::string name);
    std::shared_ptr<MonitorState> state_;
    std::string name_;
    double begin_;
  };
  [[nodiscard]] Span span(std::string name);

  MonitorReport report();  // waits for the device, so that it has everything that was submitted

  // In the Chrome trace event format. Kernels are shown from the time of their submission on: devices have clocks of
  // their own. Waits like report(). Throws io where the file cannot be written; one that was there stays whole then.
  void write_trace(const std::filesystem::path&);

 private:
  std::shared_ptr<ContextImpl> context_;
  std::shared_ptr<MonitorState> state_;
};

}  // namespace tessera
