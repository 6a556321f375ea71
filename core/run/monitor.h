// The events of a monitor, which the context writes under its lock and spans on any thread.
#pragma once
#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/run/context_state.h"
#include <tessera/monitor.h>

namespace tessera {

enum class HostWork : std::uint8_t { plan, upload, encode, submit, read };

struct MonitorState {
  explicit MonitorState(const MonitorOptions& options_in) : options(options_in) {}

  struct Event {
    enum class Kind : std::uint8_t { host, kernel, span, memory, metric, mark } kind;
    int name;           // in `names`
    int thread;         // of host work and spans
    double begin, end;  // microseconds since the start
    double value = 0;   // bytes of memory, elements of a kernel's output, a number of the program's own
  };

  double now() const;  // microseconds since the start

  // Under the context's lock:
  void start(const Backend&);
  void about_to_run(std::span<const Dispatch>, std::optional<std::uint64_t> timed_as);
  void ran(const MemoryInfo&);
  void timed(const TimedRun&);
  void moves(const Backend& from, const Backend& to);

  void log(std::string_view name, double value);
  std::uint64_t open_span(const std::string& name);  // gives its number
  void close_span(std::uint64_t number);
  void add(Event::Kind, std::string_view name, double begin, double end, double value = 0);

  const MonitorOptions options;
  const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  // The context's lock guards these:
  struct Run {
    std::uint64_t number;
    double submitted;
    std::string span;
    std::vector<int> names;
    std::vector<std::int64_t> elements;
  };
  bool times_kernels = false;
  std::deque<Run> under_way;
  double device_until = 0;  // the end of the last kernel

  // This one guards what follows.
  mutable std::mutex lock;
  std::vector<Event> events;
  std::uint64_t dropped = 0;
  bool ever_timed = false;
  double device_busy = 0;  // microseconds
  std::vector<std::string> names;
  std::map<std::string, int, std::less<>> index_of_name;
  std::vector<std::thread::id> threads;
  std::map<std::pair<Event::Kind, int>, TimeStats> totals;
  std::map<std::string, MetricStats, std::less<>> metrics;
  std::deque<CallTime> calls;
  struct OpenSpan {
    std::uint64_t number;
    std::thread::id thread;
    std::string name;
  };
  std::vector<OpenSpan> open_spans;
  std::uint64_t spans = 0;

 private:
  std::string innermost_span() const;  // of this thread
  int name_index(std::string_view);    // under `lock`
  int thread_index();
  void add_locked(Event);
};

// Times one step of the host, where somebody watches.
class HostTime {
 public:
  HostTime(const ContextState& context, HostWork work) : state_(context.monitor.get()), work_(work) {
    if (state_) begin_ = state_->now();
  }
  ~HostTime() { end(); }
  HostTime(const HostTime&) = delete;
  HostTime& operator=(const HostTime&) = delete;

  void end() {
    if (state_) finish();
    state_ = nullptr;
  }

 private:
  void finish();
  MonitorState* state_;
  HostWork work_;
  double begin_ = 0;
};

}  // namespace tessera
