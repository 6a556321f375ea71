// Monitors: what they see is what happened, and they cost nothing when there is none.
#include <atomic>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/devices.h"
#include "support/temporary_folder.h"
#include <tessera/monitor.h>
#include <tessera/testing.h>

namespace tessera::test::monitor_test {
namespace {

using nlohmann::json;

class Monitoring : public OnDevice {
 protected:
  Context own() { return Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver}); }
};

const TimeStats* find(const std::vector<TimeStats>& all, const std::string& name) {
  for (const TimeStats& stats : all)
    if (stats.name == name) return &stats;
  return nullptr;
}

Tensor work(Context& context) {
  const Tensor x = context.full({64, 64}, 0.5f).compute();
  return sum(square(x) + 1.0f);
}

json events_of(Monitor& monitor) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.json";
  monitor.write_trace(path);
  std::ifstream file(path);
  return json::parse(file)["traceEvents"];
}

TEST_P(Monitoring, CountsKernelsByReadableNames) {
  Context context = own();
  work(context).read();  // compiles
  context.reset_stats();
  Monitor monitor(context);
  for (int i = 0; i < 5; ++i) work(context).read();
  const MonitorReport report = monitor.report({.wait = true});
  std::uint64_t runs = 0;
  std::string names;
  for (const TimeStats& kernel : report.kernels) {
    runs += kernel.count;
    names += kernel.name + '\n';
    EXPECT_GE(kernel.shortest, 0);
    EXPECT_LE(kernel.shortest, kernel.longest);
    EXPECT_LE(kernel.longest, kernel.total * 1.000001);
    EXPECT_LT(kernel.total, report.milliseconds * 1.5) << "device times are milliseconds like the host's";
  }
  ASSERT_FALSE(report.kernels.empty()) << "all devices of the tests can time kernels";
  EXPECT_EQ(runs, report.stats.dispatches);
  EXPECT_NE(names.find("square add > reduce_fold"), std::string::npos) << names;
  ASSERT_TRUE(report.device_busy);
  EXPECT_GT(*report.device_busy, 0);
  EXPECT_LE(*report.device_busy, 1);
  EXPECT_EQ(report.device.name, context.device().name);
  for (const char* name : {"plan", "encode", "submit", "read"}) {
    ASSERT_TRUE(find(report.host, name)) << name;
    EXPECT_GE(find(report.host, name)->count, 5u) << name;
  }
}

// Some drivers count the first kernel of a context from when the machine was started.
TEST_P(Monitoring, NoKernelTakesLongerThanTheContextIsThere) {
  Context context = own();
  Monitor monitor(context);
  work(context).read();
  const MonitorReport report = monitor.report({.wait = true});
  ASSERT_FALSE(report.kernels.empty());
  for (const TimeStats& kernel : report.kernels) EXPECT_LE(kernel.longest, report.milliseconds) << kernel.name;
}

TEST_P(Monitoring, ResultsAndSubmissionsStayTheSame) {
  Context context = own();
  const std::vector<float> before = work(context).read();
  context.reset_stats();
  work(context).read();
  const std::uint64_t submits = context.stats().submits;
  {
    const Monitor monitor(context);
    EXPECT_EQ(work(context).read(), before);
  }
  EXPECT_EQ(context.stats().submits, 2 * submits);
  EXPECT_EQ(work(context).read(), before);
}

TEST_P(Monitoring, KernelTimesAreFreeToBeLeftOut) {
  Context context = own();
  Monitor monitor(context, {.kernel_times = false});
  work(context).read();
  const MonitorReport report = monitor.report();
  EXPECT_TRUE(report.kernels.empty());
  EXPECT_FALSE(report.device_busy);
  EXPECT_TRUE(find(report.host, "plan"));
}

TEST_P(Monitoring, Spans) {
  Context context = own();
  Monitor monitor(context);
  double longest = 0;
  for (int i = 0; i < 3; ++i) {
    const auto frame = monitor.span("frame");
    const auto inner = monitor.span("inner");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_GE(frame.milliseconds(), 2) << "so far";
    longest = std::max(longest, frame.milliseconds());
  }
  std::thread([&] { const auto elsewhere = monitor.span("elsewhere"); }).join();
  const MonitorReport report = monitor.report();
  ASSERT_TRUE(find(report.spans, "frame"));
  EXPECT_EQ(find(report.spans, "frame")->count, 3u);
  EXPECT_GE(find(report.spans, "frame")->shortest, 2);
  EXPECT_GE(find(report.spans, "frame")->total, find(report.spans, "inner")->total);
  EXPECT_GE(find(report.spans, "frame")->longest, longest);
  EXPECT_EQ(find(report.spans, "elsewhere")->count, 1u);

  auto early = monitor.span("early");
  const double milliseconds = early.end();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(early.milliseconds(), milliseconds);
  EXPECT_EQ(early.end(), milliseconds) << "it ends once";
  const auto moved = std::move(early);
  EXPECT_EQ(moved.milliseconds(), milliseconds);
  const MonitorReport later = monitor.report();
  EXPECT_EQ(find(later.spans, "early")->count, 1u);
  EXPECT_DOUBLE_EQ(find(later.spans, "early")->total, milliseconds);
}

TEST_P(Monitoring, MetricsOfOnesOwn) {
  Context context = own();
  Monitor monitor(context);
  for (const double fps : {50.0, 70.0, std::numeric_limits<double>::infinity(), 60.0}) monitor.log("fps", fps);
  monitor.log("loss", 0.25);
  const MonitorReport report = monitor.report();
  ASSERT_EQ(report.metrics.size(), 2u);
  EXPECT_EQ(report.metrics[0].name, "fps");
  EXPECT_EQ(report.metrics[0].count, 3u) << "infinity is left out";
  EXPECT_EQ(report.metrics[0].last, 60);
  EXPECT_DOUBLE_EQ(report.metrics[0].mean, 60);
  EXPECT_EQ(report.metrics[0].smallest, 50);
  EXPECT_EQ(report.metrics[0].largest, 70);
  EXPECT_NE(to_string(report).find("metric fps: 3 times, last 60, mean 60 (50 to 70)"), std::string::npos)
      << to_string(report);
  EXPECT_EQ(json::parse(to_json(report))["metrics"][1]["mean"], 0.25);
  std::vector<double> graph;
  for (const json& event : events_of(monitor))
    if (event["ph"] == "C" && event["name"] == "fps") graph.push_back(event["args"]["value"]);
  EXPECT_EQ(graph, (std::vector<double>{50, 70, 60}));
}

// A report in the middle of a frame must not stall it.
TEST_P(Monitoring, ReportsWaitOnRequestOnly) {
  Context context = own();
  const Tensor x = context.full({192, 192}, 0.5f).compute();
  Tensor y = matmul(x, x).compute();  // compiles
  context.wait();
  Monitor monitor(context);
  for (int i = 0; i < 4; ++i) y = matmul(y, x).compute();
  auto reporting = monitor.span("report");
  monitor.report();
  const double without_waiting = reporting.end();
  const MonitorReport report = monitor.report({.wait = true});
  std::uint64_t runs = 0;
  double at_work = 0;
  for (const TimeStats& kernel : report.kernels) {
    runs += kernel.count;
    at_work += kernel.total;
  }
  const bool has_blocks = context.backend() == BackendKind::gles;  // each product takes four kernels there
  EXPECT_EQ(runs, has_blocks ? 16u : 4u);
  constexpr double of_the_report = 20;  // on a busy machine
  EXPECT_LT(without_waiting, std::max(at_work / 2, of_the_report));
}

TEST_P(Monitoring, ReportsWhileTheContextMoves) {
  Context context = own();
  Monitor monitor(context);
  std::atomic<bool> is_done = false;
  std::thread reporter([&] {
    while (!is_done) {
      monitor.report();
      std::this_thread::sleep_for(std::chrono::microseconds(100));  // else it has the context for itself
    }
  });
  for (int i = 0; i < 2; ++i) {
    context.switch_backend(BackendKind::cpu);
    work(context).read();
    context.switch_backend(GetParam().backend, GetParam().driver);
  }
  is_done = true;
  reporter.join();
  EXPECT_TRUE(monitor.report().device_busy);
}

TEST_P(Monitoring, OfProgramsAndCustomNames) {
  Context context = own();
  const Program program = Program::record(context, {{.shape = {8, 8}}},
                                          [](std::span<const Tensor> in) { return std::vector{exp(in[0]) * 2.0f}; });
  Monitor monitor(context);
  program.run({context.full({8, 8}, 0)})[0].read();
  const MonitorReport report = monitor.report({.wait = true});
  EXPECT_TRUE(find(report.kernels, "exp mul")) << to_string(report);
}

TEST_P(Monitoring, GoesOnAfterAKernelThatDoesNotCompile) {
  if (GetParam().backend == BackendKind::cpu) GTEST_SKIP() << "the cpu compiles no kernels";
  Context context = own();
  work(context).read();  // some drivers cannot time the first kernel of a device
  Monitor monitor(context);
  const CustomKernel broken{.name = "broken",
                            .inputs = {"a"},
                            .outputs = {"b"},
                            .wgsl = "fn main() { let x = ; }",
                            .glsl = "float b_at(int i) { return oops; }"};
  const CustomRun run{.inputs = {{"a", context.full({4}, 1)}}, .outputs = {{"b", {.shape = {4}}}}};
  EXPECT_TESSERA_ERROR(run_custom(context, broken, run).at("b").compute(), compile_failed, "broken");
  context.reset_stats();
  for (int i = 0; i < 3; ++i) work(context).read();
  const MonitorReport report = monitor.report({.wait = true});
  std::uint64_t runs = 0;
  for (const TimeStats& kernel : report.kernels) runs += kernel.count;
  EXPECT_EQ(runs, report.stats.dispatches) << to_string(report);
}

TEST_P(Monitoring, GoesAlongToOtherDevices) {
  Context context = own();
  Monitor monitor(context);
  work(context).read();
  context.switch_backend(BackendKind::cpu);
  work(context).read();
  context.switch_backend(GetParam().backend, GetParam().driver);
  work(context).read();
  testing::lose_device(context);
  const std::vector<float> values = work(context).read();
  EXPECT_EQ(values, work(cpu_context()).read());
  const MonitorReport report = monitor.report({.wait = true});
  std::uint64_t runs = 0;
  for (const TimeStats& kernel : report.kernels) runs += kernel.count;
  EXPECT_GE(runs, 4u) << "some drivers cannot time the first kernel of a device\n" << to_string(report);
  std::string marks;
  for (const json& event : events_of(monitor))
    if (event["ph"] == "i") marks += event["name"].get<std::string>() + '\n';
  EXPECT_NE(marks.find("switched to cpu"), std::string::npos) << marks;
  if (GetParam().backend != BackendKind::cpu) {
    EXPECT_NE(marks.find("device lost"), std::string::npos) << marks;
  }
}

TEST_P(Monitoring, JsonHasEverything) {
  Context context = own();
  Monitor monitor(context);
  { const auto span = monitor.span("strange \"name\" \xff\n"); }
  const Tensor held = work(context).compute();
  const MonitorReport report = monitor.report();
  const json parsed = json::parse(to_json(report));
  EXPECT_EQ(parsed["device"]["name"], context.device().name);
  EXPECT_EQ(parsed["memory"]["tensors"], report.memory.num_tensors);
  EXPECT_EQ(parsed["memory"]["in_use"], report.memory.bytes_in_use);
  EXPECT_EQ(parsed["stats"]["dispatches"], report.stats.dispatches);
  EXPECT_EQ(parsed["kernels"].size(), report.kernels.size());
  EXPECT_EQ(parsed["spans"].size(), 1u);
  EXPECT_EQ(parsed["device"]["load"].is_null(), !report.state.load);

  MonitorReport unknown = report;
  unknown.state = {};
  unknown.device_busy = {};
  EXPECT_TRUE(json::parse(to_json(unknown))["device"]["memory_free"].is_null());
  EXPECT_TRUE(json::parse(to_json(unknown))["device"]["busy"].is_null());
  EXPECT_NE(to_string(unknown).find("load not known"), std::string::npos) << to_string(unknown);
}

TEST_P(Monitoring, TracesAreWellFormed) {
  Context context = own();
  work(context).read();  // some drivers cannot time the first kernel
  context.reset_stats();
  Monitor monitor(context);
  {
    const auto frame = monitor.span("frame");
    work(context).read();
  }
  const json trace = events_of(monitor);
  std::map<std::string, int> kinds;
  double frame_begin = 0, frame_end = 0;
  for (const json& event : trace) {
    ASSERT_TRUE(event["name"].is_string() && event["pid"].is_number_integer() && event["tid"].is_number_integer());
    const std::string kind = event["ph"];
    ++kinds[kind == "X" ? "X " + event["cat"].get<std::string>() : kind];
    if (kind != "M") {
      EXPECT_GE(event["ts"].get<double>(), 0);
    }
    if (kind == "X") {
      EXPECT_GE(event["dur"].get<double>(), 0);
    }
    if (event["name"] == "frame") {
      frame_begin = event["ts"];
      frame_end = frame_begin + event["dur"].get<double>();
    }
  }
  EXPECT_EQ(kinds["X span"], 1);
  EXPECT_EQ(kinds["X kernel"], static_cast<int>(context.stats().dispatches));
  EXPECT_GE(kinds["X tessera"], 4);
  EXPECT_EQ(kinds["C"], 2);
  EXPECT_GE(kinds["M"], 4);
  for (const json& event : trace) {
    if (event["ph"] != "X" || event["name"] == "frame") continue;
    EXPECT_GE(event["ts"].get<double>(), frame_begin) << event;
    if (event["cat"] == "tessera") {
      EXPECT_LE(event["ts"].get<double>() + event["dur"].get<double>(), frame_end) << event;
    }
  }
}

TEST_P(Monitoring, TracesAreBounded) {
  Context context = own();
  Monitor monitor(context, {.max_events = 10});
  for (int i = 0; i < 20; ++i) work(context).compute();
  EXPECT_GT(monitor.report().events_dropped, 20u);
  EXPECT_EQ(find(monitor.report().host, "submit")->count, 40u);  // the totals go on
  int events = 0;
  for (const json& event : events_of(monitor)) events += event["ph"] != "M";
  EXPECT_EQ(events, 10);
}

TEST_P(Monitoring, BadInput) {
  Context context = own();
  {
    Monitor monitor(context);
    EXPECT_TESSERA_ERROR(Monitor(context), invalid_argument, "already", context.device().name.c_str());
    EXPECT_TESSERA_ERROR(monitor.write_trace("/nonexistent/folder/trace.json"), io, "write_trace", "/nonexistent");
    EXPECT_TESSERA_ERROR(monitor.write_trace("/dev/null"), io, "/dev/null", "not a regular file");
    const TemporaryFolder folder;
    const std::filesystem::path cut((folder / "trace").string() + std::string("\0.json", 6));
    EXPECT_TESSERA_ERROR(monitor.write_trace(cut), io, "NUL");
    EXPECT_EQ(folder.files(), 0);
  }
  auto monitor = std::make_unique<Monitor>(context);  // one after the other is fine
  auto late = std::make_unique<Monitor::Span>(monitor->span("late"));
  monitor.reset();
  late.reset();
  work(context).read();
}

TEST_P(Monitoring, CallsHaveTheirTimesAndTheSpanAroundThem) {
  Context context = own();
  work(context).read();  // compiles
  Monitor monitor(context);
  context.full({64, 64}, 0.5).compute();
  {
    const auto frame = monitor.span("frame");
    const Tensor x = context.full({64, 64}, 0.5).compute();
    {
      const auto inner = monitor.span("inner");
      sum(square(x)).compute();
      std::thread([&] { (x + 1.0f).compute(); }).join();  // the spans are of another thread
    }
    (x * 2.0f).compute();
  }
  if (!monitor.report({.wait = true}).device_busy) GTEST_SKIP() << "the device does not tell times";
  const std::vector<CallTime> calls = monitor.take_calls();
  EXPECT_TRUE(monitor.take_calls().empty());  // each once
  std::vector<std::string> spans;
  for (const CallTime& call : calls) {
    spans.push_back(call.span);
    EXPECT_GE(call.device, 0);
    EXPECT_GE(call.submitted, 0);
    ASSERT_FALSE(call.kernels.empty());
    EXPECT_FALSE(call.kernels[0].name.empty());
    for (const CallTime::Kernel& kernel : call.kernels) {
      EXPECT_LE(kernel.begin, kernel.end);
      EXPECT_LE(kernel.end, call.device);
    }
  }
  // Drivers may tell a time that cannot be, which is left out.
  for (const std::string& span : spans) EXPECT_TRUE(span.empty() || span == "frame" || span == "inner") << span;
  EXPECT_GE(calls.size(), 4u);
  if (calls.size() == 5) {
    EXPECT_EQ(spans, (std::vector<std::string>{"", "frame", "inner", "", "frame"}));
  }
}

TESSERA_ON_ALL_DEVICES(Monitoring);

}  // namespace
}  // namespace tessera::test::monitor_test
