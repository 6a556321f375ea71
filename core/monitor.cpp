#include "core/monitor.h"

#include <algorithm>
#include <utility>

#include "core/custom.h"
#include "core/device_state.h"

namespace tessera {
namespace {

void append_ops(std::string& text, const Expression& expression) {
  const std::size_t before = text.size();
  for (const Expression::Line& line : expression.lines)
    if (line.kind == Expression::Kind::op || line.kind == Expression::Kind::cast) {
      if (text.size() > before) text += ' ';
      if (line.op) text += line.op->name;
      else text += "cast:" + std::string(to_string(line.dtype));
    }
}

constexpr std::array<std::string_view, 5> host_names{"plan", "upload", "encode", "submit", "read"};
constexpr std::size_t most_under_way = 4096;  // of runs; those that went into a host's commands never get times

}  // namespace

std::string label_of(const Dispatch& dispatch) {
  if (dispatch.custom) return dispatch.custom->kernel->name;
  if (dispatch.pass) return dispatch.output ? "import from the host" : "export to the host";
  const Kernel& kernel = *dispatch.kernel;
  std::string before, after;
  for (const Expression& operand : kernel.operands) {
    std::string ops;
    append_ops(ops, operand);
    if (!ops.empty()) before += (before.empty() ? "" : " | ") + ops;
  }
  append_ops(after, kernel.expression);
  if (!kernel.has_core()) return after.empty() ? "copy" : after;
  return before + (before.empty() ? "" : " > ") + std::string(kernel.core.entry) + (after.empty() ? "" : " > ") + after;
}

double MonitorState::now() const {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count();
}

int MonitorState::name_index(std::string_view name) {
  if (const auto found = index_of_name.find(name); found != index_of_name.end()) return found->second;
  names.emplace_back(name);
  return index_of_name.emplace(name, static_cast<int>(names.size()) - 1).first->second;
}

int MonitorState::thread_index() {
  const auto found = std::ranges::find(threads, std::this_thread::get_id());
  if (found != threads.end()) return static_cast<int>(found - threads.begin());
  threads.push_back(std::this_thread::get_id());
  return static_cast<int>(threads.size()) - 1;
}

void MonitorState::add_locked(Event event) {
  if (event.kind != Event::Kind::memory && event.kind != Event::Kind::mark) {
    TimeStats& stats = totals[{event.kind, event.name}];
    const double milliseconds = (event.end - event.begin) / 1000;
    stats.shortest = stats.count == 0 ? milliseconds : std::min(stats.shortest, milliseconds);
    stats.longest = std::max(stats.longest, milliseconds);
    stats.total += milliseconds;
    ++stats.count;
  }
  if (events.size() < options.max_events) events.push_back(event);
  else ++dropped;
}

void MonitorState::add(Event::Kind kind, std::string_view name, double begin, double end, std::uint64_t value) {
  const std::scoped_lock hold(lock);
  add_locked({kind, name_index(name), thread_index(), begin, end, value});
}

void MonitorState::start(Backend& backend) {
  runs = 0;
  times_kernels = options.kernel_times && backend.time_kernels(true);
  ever_timed = ever_timed || times_kernels;
}

void MonitorState::about_to_run(std::span<const Dispatch> dispatches) {
  const std::uint64_t number = runs++;
  if (!times_kernels) return;
  Run run{number, now(), {}, {}};
  for (const Dispatch& dispatch : dispatches) {
    const bool is_kernel = !dispatch.custom && !dispatch.pass;
    const auto known = is_kernel ? names_by_key.find(dispatch.kernel->key) : names_by_key.end();
    int name = 0;
    if (known != names_by_key.end()) {
      name = known->second;
    } else {
      const std::scoped_lock hold(lock);
      name = name_index(label_of(dispatch));
      if (is_kernel) names_by_key.emplace(dispatch.kernel->key, name);
    }
    run.names.push_back(name);
    run.elements.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(dispatch.output_elements, 0)));
  }
  under_way.push_back(std::move(run));
  if (under_way.size() > most_under_way) under_way.pop_front();
}

void MonitorState::ran(Backend& backend, const MemoryInfo& memory) {
  add(Event::Kind::memory, "device memory", now(), now(), memory.bytes_in_use);
  collect(backend, false);
}

void MonitorState::collect(Backend& backend, bool wait) {
  if (!times_kernels) return;
  for (const TimedRun& timed : backend.take_times(wait)) {
    // Runs before it that have no times failed, or went into a host's commands.
    while (!under_way.empty() && under_way.front().number < timed.run) under_way.pop_front();
    if (under_way.empty() || under_way.front().number != timed.run) continue;
    const Run run = std::move(under_way.front());
    under_way.pop_front();
    const double first = std::max(run.submitted, device_until);
    const std::scoped_lock hold(lock);
    for (const DispatchTime& time : timed.times) {
      add_locked({Event::Kind::kernel, run.names[time.dispatch], 0, first + time.begin, first + time.end,
                  run.elements[time.dispatch]});
      device_busy += time.end - time.begin;
      device_until = std::max(device_until, first + time.end);
    }
  }
}

void MonitorState::moves(Backend& from, Backend& to) {
  try {
    if (!from.is_lost()) collect(from, true);
  } catch (const Error&) {  // times that nobody can have are no reason not to go on
  }
  under_way.clear();
  add(Event::Kind::mark, (from.is_lost() ? "device lost, now on " : "switched to ") + to.device().name, now(), now());
  start(to);
}

void HostTime::finish() {
  state_->add(MonitorState::Event::Kind::host, host_names[static_cast<std::size_t>(work_)], begin_, state_->now());
}

Monitor::Monitor(Context& context, const MonitorOptions& options)
    : context_(ContextAccess::impl(context).shared_from_this()), state_(std::make_shared<MonitorState>(options)) {
  const Session session(*context_);
  if (context_->monitor)
    throw Error(ErrorCode::invalid_argument,
                "Monitor: the context on " + context_->backend->device().name + " has a monitor already.");
  context_->monitor = state_;
  state_->start(*context_->backend);
}

Monitor::~Monitor() {
  const Session session(*context_, Session::Closed::allowed);
  context_->backend->time_kernels(false);
  context_->monitor = nullptr;
}

Monitor::Span Monitor::span(std::string name) { return {state_, std::move(name)}; }

Monitor::Span::Span(std::shared_ptr<MonitorState> state, std::string name)
    : state_(std::move(state)), name_(std::move(name)), begin_(state_->now()) {}

Monitor::Span::~Span() {
  if (state_) state_->add(MonitorState::Event::Kind::span, name_, begin_, state_->now());
}

MonitorReport Monitor::report() {
  MonitorReport report{};
  {
    const Session session(*context_, Session::Closed::allowed);
    context_->resilient([&] { context_->backend->wait(); });
    state_->collect(*context_->backend, true);
    report.device = context_->backend->device();
    report.memory = context_->memory_now();
    report.stats = context_->stats_now();
  }
  report.state = device_state(report.device);
  const std::scoped_lock hold(state_->lock);
  report.milliseconds = state_->now() / 1000;
  if (state_->ever_timed) report.device_busy = std::min(1.0, state_->device_busy / (report.milliseconds * 1000));
  report.events_dropped = state_->dropped;
  for (const auto& [key, stats] : state_->totals) {
    using Kind = MonitorState::Event::Kind;
    auto& list = key.first == Kind::kernel ? report.kernels : key.first == Kind::host ? report.host : report.spans;
    list.push_back(stats);
    list.back().name = state_->names[static_cast<std::size_t>(key.second)];
  }
  for (auto* list : {&report.kernels, &report.host, &report.spans})
    std::ranges::stable_sort(*list, std::ranges::greater{}, &TimeStats::total);
  return report;
}

}  // namespace tessera
