#include "core/run/monitor.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/kernel/dispatch_label.h"
#include "core/platform/device_state.h"
#include "core/run/context_impl.h"

namespace tessera {
namespace {

constexpr std::array<std::string_view, 5> host_names{"plan", "upload", "encode", "submit", "read"};
constexpr std::size_t most_calls = 1024;
constexpr std::size_t most_under_way = 4096;  // runs; those in a host's commands never get times

}  // namespace

double MonitorState::now() const {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count();
}

int MonitorState::name_index(std::string_view name) {
  if (const auto entry = index_of_name.find(name); entry != index_of_name.end()) return entry->second;
  names.emplace_back(name);
  return index_of_name.emplace(name, static_cast<int>(names.size()) - 1).first->second;
}

int MonitorState::thread_index() {
  const auto thread = std::ranges::find(threads, std::this_thread::get_id());
  if (thread != threads.end()) return static_cast<int>(thread - threads.begin());
  threads.push_back(std::this_thread::get_id());
  return static_cast<int>(threads.size()) - 1;
}

void MonitorState::add_locked(Event event) {
  if (event.kind == Event::Kind::host || event.kind == Event::Kind::kernel || event.kind == Event::Kind::span) {
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

void MonitorState::add(Event::Kind kind, std::string_view name, double begin, double end, double value) {
  const std::scoped_lock hold(lock);
  add_locked({kind, name_index(name), thread_index(), begin, end, value});
}

void MonitorState::log(std::string_view name, double value) {
  if (!std::isfinite(value)) return;
  const std::scoped_lock hold(lock);
  auto metric = metrics.find(name);
  if (metric == metrics.end())
    metric = metrics.emplace(name, MetricStats{.name = std::string(name), .smallest = value, .largest = value}).first;
  MetricStats& stats = metric->second;
  ++stats.count;
  stats.last = value;
  stats.mean += (value - stats.mean) / static_cast<double>(stats.count);
  stats.smallest = std::min(stats.smallest, value);
  stats.largest = std::max(stats.largest, value);
  add_locked({Event::Kind::metric, name_index(name), thread_index(), now(), now(), value});
}

void MonitorState::start(const Backend& backend) {
  times_kernels = options.kernel_times && backend.can_time();
  const std::scoped_lock hold(lock);
  ever_timed = ever_timed || times_kernels;
}

void MonitorState::about_to_run(std::span<const Dispatch> dispatches, std::optional<std::uint64_t> timed_as) {
  if (!times_kernels || !timed_as) return;
  Run run{*timed_as, now(), innermost_span(), {}, {}};
  for (const Dispatch& dispatch : dispatches) {
    const std::scoped_lock hold(lock);
    run.names.push_back(name_index(label_of(dispatch)));
    run.elements.push_back(std::max<std::int64_t>(dispatch.output_elements, 0));
  }
  under_way.push_back(std::move(run));
  if (under_way.size() > most_under_way) under_way.pop_front();
}

void MonitorState::ran(const MemoryInfo& memory) {
  add(Event::Kind::memory, "device memory", now(), now(), static_cast<double>(memory.bytes_in_use));
}

void MonitorState::timed(const TimedRun& times) {
  // Earlier runs without times failed, or went into a host's commands.
  while (!under_way.empty() && under_way.front().number < times.run) under_way.pop_front();
  if (under_way.empty() || under_way.front().number != times.run) return;
  const Run run = std::move(under_way.front());
  under_way.pop_front();
  const double first = std::max(run.submitted, device_until);
  const std::scoped_lock hold(lock);
  for (const DispatchTime& time : times.times) {
    add_locked({Event::Kind::kernel, run.names[time.dispatch], 0, first + time.begin, first + time.end,
                static_cast<double>(run.elements[time.dispatch])});
    device_busy += time.end - time.begin;
    device_until = std::max(device_until, first + time.end);
  }
  if (times.times.empty()) return;
  CallTime call{.span = run.span, .submitted = run.submitted / 1000, .device = 0};
  for (const DispatchTime& time : times.times) {
    call.kernels.push_back(
        {names[static_cast<std::size_t>(run.names[time.dispatch])], time.begin / 1000, time.end / 1000});
    call.device = std::max(call.device, time.end / 1000);
  }
  calls.push_back(std::move(call));
  if (calls.size() > most_calls) calls.pop_front();
}

std::uint64_t MonitorState::open_span(const std::string& name) {
  const std::scoped_lock hold(lock);
  open_spans.push_back({++spans, std::this_thread::get_id(), name});
  return spans;
}

void MonitorState::close_span(std::uint64_t number) {
  const std::scoped_lock hold(lock);
  std::erase_if(open_spans, [&](const OpenSpan& span) { return span.number == number; });
}

std::string MonitorState::innermost_span() const {
  const std::scoped_lock hold(lock);
  const auto is_mine = [](const OpenSpan& span) { return span.thread == std::this_thread::get_id(); };
  const auto span = std::find_if(open_spans.rbegin(), open_spans.rend(), is_mine);
  return span == open_spans.rend() ? std::string() : span->name;
}

void MonitorState::moves(const Backend& from, const Backend& to) {
  under_way.clear();
  add(Event::Kind::mark, (from.is_lost() ? "device lost, now on " : "switched to ") + to.device().name, now(), now());
  start(to);
}

void HostTime::finish() {
  state_->add(MonitorState::Event::Kind::host, host_names[static_cast<std::size_t>(work_)], begin_, state_->now());
}

Monitor::Monitor(Context& context, const MonitorOptions& options)
    : context_(ContextAccess::impl(context).shared_from_this()), state_(std::make_shared<MonitorState>(options)) {
  const LockedContext locked(*context_);
  if (locked->monitor)
    throw Error(ErrorCode::invalid_argument,
                "Monitor: the context on " + locked->backend->device().name + " has a monitor already.");
  state_->start(*locked->backend);
  locked->monitor = state_;
}

Monitor::~Monitor() {
  const LockedContext context(*context_, LockedContext::Closed::allowed);
  context->monitor = nullptr;
}

Monitor::Span Monitor::span(std::string name) { return {state_, std::move(name)}; }

Monitor::Span::Span(std::shared_ptr<MonitorState> state, std::string name)
    : state_(std::move(state)), name_(std::move(name)), number_(state_->open_span(name_)), begin_(state_->now()) {}

Monitor::Span::~Span() { end(); }

double Monitor::Span::milliseconds() const { return state_ ? (state_->now() - begin_) / 1000 : milliseconds_; }

double Monitor::Span::end() {
  if (const auto state = std::exchange(state_, nullptr)) {
    const double now = state->now();
    milliseconds_ = (now - begin_) / 1000;
    state->add(MonitorState::Event::Kind::span, name_, begin_, now);
    state->close_span(number_);
  }
  return milliseconds_;
}

void Monitor::log(std::string_view name, double value) { state_->log(name, value); }

std::vector<CallTime> Monitor::take_calls() {
  {
    const LockedContext context(*context_, LockedContext::Closed::allowed);
    context->collect_times(false);
  }
  const std::scoped_lock hold(state_->lock);
  std::vector<CallTime> taken(std::move_iterator(state_->calls.begin()), std::move_iterator(state_->calls.end()));
  state_->calls.clear();
  return taken;
}

MonitorReport Monitor::report(const ReportOptions& options) {
  MonitorReport report{};
  {
    const LockedContext context(*context_, LockedContext::Closed::allowed);
    if (options.wait) context->recovery.run([&] { context->backend->wait(); });
    context->collect_times(options.wait);
    report.device = context->backend->device();
    report.memory = context->memory_now();
    report.stats = context->stats_now();
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
  for (const auto& [_, stats] : state_->metrics) report.metrics.push_back(stats);
  for (auto* list : {&report.kernels, &report.host, &report.spans})
    std::ranges::stable_sort(*list, std::ranges::greater{}, &TimeStats::total);
  return report;
}

}  // namespace tessera
