// The report of a monitor as lines and as JSON, and its trace.
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/platform/replacing_file.h"
#include "core/run/monitor.h"

namespace tessera {
namespace {

using nlohmann::json;

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json json_of(const std::vector<TimeStats>& list) {
  json array = json::array();
  for (const TimeStats& stats : list)
    array.push_back({{"name", stats.name},
                     {"count", stats.count},
                     {"total_ms", stats.total},
                     {"shortest_ms", stats.shortest},
                     {"longest_ms", stats.longest}});
  return array;
}

json json_of(const std::vector<MetricStats>& list) {
  json array = json::array();
  for (const MetricStats& stats : list)
    array.push_back({{"name", stats.name},
                     {"count", stats.count},
                     {"last", stats.last},
                     {"mean", stats.mean},
                     {"smallest", stats.smallest},
                     {"largest", stats.largest}});
  return array;
}

std::string number(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

template <class Value, class Text>
std::string or_not_known(const std::optional<Value>& value, const Text& text) {
  return value ? text(*value) : std::string("not known");
}

void append(std::string& text, const char* title, const std::vector<TimeStats>& list) {
  for (const TimeStats& stats : list)
    text += std::string(title) + ' ' + stats.name + ": " + std::to_string(stats.count) + " times, " +
            number("%.3f ms", stats.total) + ", each " +
            number("%.3f", stats.total / static_cast<double>(stats.count)) + number(" (%.3f to ", stats.shortest) +
            number("%.3f) ms\n", stats.longest);
}

// Names come from programs and may hold any bytes.
std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::string to_string(const MonitorReport& report) {
  const auto percent = [](double part) { return number("%.0f %%", part * 100); };
  std::string text = "device " + report.device.name + ": memory free " +
                     or_not_known(report.state.memory_free, megabytes) + " of " +
                     or_not_known(report.state.memory_total, megabytes) + ", load " +
                     or_not_known(report.state.load, percent) + ", busy with this context " +
                     or_not_known(report.device_busy, percent) + number(" of %.1f ms\n", report.milliseconds);
  text += "memory: " + std::to_string(report.memory.num_tensors) + " tensors of " + megabytes(report.memory.num_bytes) +
          ", in use " + megabytes(report.memory.bytes_in_use) + ", pooled " + megabytes(report.memory.bytes_pooled) +
          ", borrowed " + megabytes(report.memory.bytes_external) + ", spilled " +
          megabytes(report.memory.bytes_spilled) + ", peak " + megabytes(report.memory.bytes_peak) + '\n';
  text += "work: " + std::to_string(report.stats.dispatches) + " kernels in " + std::to_string(report.stats.submits) +
          " submissions, " + std::to_string(report.stats.kernels_compiled) + " compiled, " +
          std::to_string(report.stats.kernels_from_cache) + " from the cache, " +
          std::to_string(report.stats.device_losses) + " device losses\n";
  append(text, "kernel", report.kernels);
  append(text, "host", report.host);
  append(text, "span", report.spans);
  for (const MetricStats& stats : report.metrics)
    text += "metric " + stats.name + ": " + std::to_string(stats.count) + " times, last " + number("%g", stats.last) +
            ", mean " + number("%g", stats.mean) + number(" (%g to ", stats.smallest) + number("%g)\n", stats.largest);
  return text;
}

std::string to_json(const MonitorReport& report) {
  const MemoryInfo& memory = report.memory;
  const Stats& stats = report.stats;
  return dump({{"device",
                {{"backend", to_string(report.device.backend)},
                 {"name", report.device.name},
                 {"driver", report.device.driver},
                 {"vendor", report.device.vendor},
                 {"is_software", report.device.is_software},
                 {"memory_total", or_null(report.state.memory_total)},
                 {"memory_free", or_null(report.state.memory_free)},
                 {"load", or_null(report.state.load)},
                 {"busy", or_null(report.device_busy)}}},
               {"memory",
                {{"tensors", memory.num_tensors},
                 {"bytes", memory.num_bytes},
                 {"in_use", memory.bytes_in_use},
                 {"pooled", memory.bytes_pooled},
                 {"external", memory.bytes_external},
                 {"spilled", memory.bytes_spilled},
                 {"peak", memory.bytes_peak},
                 {"kernels", memory.kernels},
                 {"kernel_bytes", memory.kernel_bytes},
                 {"reliable", memory.reliable}}},
               {"stats",
                {{"dispatches", stats.dispatches},
                 {"submits", stats.submits},
                 {"kernels_compiled", stats.kernels_compiled},
                 {"kernels_from_cache", stats.kernels_from_cache},
                 {"ops_fused", stats.ops_fused},
                 {"plans_reused", stats.plans_reused},
                 {"bytes_uploaded", stats.bytes_uploaded},
                 {"bytes_downloaded", stats.bytes_downloaded},
                 {"device_losses", stats.device_losses},
                 {"moves_on_device", stats.moves_on_device},
                 {"moves_through_host", stats.moves_through_host}}},
               {"milliseconds", report.milliseconds},
               {"kernels", json_of(report.kernels)},
               {"host", json_of(report.host)},
               {"spans", json_of(report.spans)},
               {"metrics", json_of(report.metrics)},
               {"events_dropped", report.events_dropped}});
}

void Monitor::write_trace(const std::filesystem::path& path) {
  const std::string device = report({.wait = true}).device.name;  // after which all kernels have their times
  ReplacingFile file("write_trace", path);
  std::string text;
  const auto flush = [&] {
    file.write(std::as_bytes(std::span(text)));
    text.clear();
  };
  // Each event is a line, so that a long trace is never whole in memory. The device is a process beside the host.
  constexpr int host = 1, gpu = 2;
  constexpr std::size_t enough_to_write = 1 << 16;
  bool is_first = true;
  const auto write = [&](const json& event) {
    text += (is_first ? "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" : ",\n") + dump(event);
    is_first = false;
    if (text.size() >= enough_to_write) flush();
  };
  const auto name_row = [&](const char* what, int process, int thread, const std::string& name) {
    write({{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}});
  };
  const std::scoped_lock hold(state_->lock);
  name_row("process_name", host, 0, "host");
  name_row("process_name", gpu, 0, device);
  name_row("thread_name", gpu, 0, "kernels");
  for (std::size_t i = 0; i < state_->threads.size(); ++i)
    name_row("thread_name", host, static_cast<int>(i) + 1, "thread " + std::to_string(i + 1));
  for (const MonitorState::Event& event : state_->events) {
    using Kind = MonitorState::Event::Kind;
    const bool is_kernel = event.kind == Kind::kernel;
    json line{{"name", state_->names[static_cast<std::size_t>(event.name)]},
              {"pid", is_kernel ? gpu : host},
              {"tid", is_kernel ? 0 : event.thread + 1},
              {"ts", event.begin}};
    if (event.kind == Kind::memory) {
      line["ph"] = "C";
      line["args"] = {{"bytes", static_cast<std::int64_t>(event.value)}};
    } else if (event.kind == Kind::metric) {
      line["ph"] = "C";
      line["args"] = {{"value", event.value}};
    } else if (event.kind == Kind::mark) {
      line["ph"] = "i";
      line["s"] = "g";  // over all rows
    } else {
      line["ph"] = "X";
      line["dur"] = event.end - event.begin;
      line["cat"] = is_kernel ? "kernel" : event.kind == Kind::span ? "span" : "tessera";
      if (is_kernel) line["args"] = {{"elements", static_cast<std::int64_t>(event.value)}};
    }
    write(line);
  }
  text += "\n]}\n";
  flush();
  file.commit();
}

}  // namespace tessera
