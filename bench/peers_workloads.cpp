// The workloads by which tensor libraries are put side by side on one driver, on tessera: one JSON line per
// measurement.
//
//   peers_workloads [webgpu|gles] [part of a driver's name]
//
// Modes: "resident" has its inputs on the device and waits until the device is done; "roundtrip" has the result in host
// memory as well; "e2e" also uploads. `check` is the root mean square of the result. PEERS_ONLY takes prefixes of
// workloads, PEERS_BUDGET_MS the time per line.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include <tessera/tessera.h>

using namespace tessera;

namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_ms() {  // of all threads, the driver's included
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

// Uniform in [shift, shift + 1) * scale, the same numbers in every program that is compared.
std::vector<float> generated(std::int64_t count, std::uint32_t seed, float shift = -0.5f, float scale = 1.0f) {
  std::vector<float> values;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i) {
    std::uint32_t hash = (i ^ (seed * 0x9E3779B1u)) * 0x85EBCA6Bu;
    hash = (hash ^ (hash >> 13)) * 0xC2B2AE35u;
    hash ^= hash >> 16;
    values.push_back((static_cast<float>(hash >> 8) / 16777216.0f + shift) * scale);
  }
  return values;
}

double root_mean_square(const std::vector<float>& values) {
  double total = 0;
  for (const float value : values) total += static_cast<double>(value) * value;
  return std::sqrt(total / static_cast<double>(values.size()));
}

struct Time {
  double best, median, cpu;
  int runs;
};

// Two runs to warm up, then at least three within the budget.
Time measure(const std::function<void()>& run) {
  const char* chosen = std::getenv("PEERS_BUDGET_MS");
  const double budget = chosen ? std::atof(chosen) : 250;
  run();
  run();
  std::vector<double> times;
  const double start = now_ms(), cpu = cpu_ms();
  while (times.size() < 3 || (times.size() < 40 && now_ms() - start < budget)) {
    const double before = now_ms();
    run();
    times.push_back(now_ms() - before);
  }
  const double cpu_each = (cpu_ms() - cpu) / static_cast<double>(times.size());
  std::sort(times.begin(), times.end());
  return {times[0], times[times.size() / 2], cpu_each, static_cast<int>(times.size())};
}

bool is_wanted(const std::string& workload) {
  const char* only = std::getenv("PEERS_ONLY");
  if (!only || !*only) return true;
  std::string list = std::string(only) + ",";
  for (std::size_t end; (end = list.find(',')) != std::string::npos; list.erase(0, end + 1))
    if (end > 0 && workload.compare(0, end, list, 0, end) == 0) return true;
  return false;
}

class Runner {
 public:
  Runner(Context context, std::string driver) : context_(std::move(context)), driver_(std::move(driver)) {}

  void workload(const std::string& name, const std::function<Tensor()>& build,
                const std::function<Tensor()>& from_host = {}) {
    if (!is_wanted(name)) return;
    const double check = root_mean_square(build().read());
    line(name, "resident", measure([&] {
           const Tensor result = build().compute();
           context_.wait();
         }),
         check);
    line(name, "roundtrip", measure([&] { build().read(); }), check);
    if (from_host) line(name, "e2e", measure([&] { from_host().read(); }), check);
  }

  void upload_and_read() {
    if (!is_wanted("updown_10mb")) return;
    const std::vector<float> host = generated(2621440, 1);
    const auto upload = [&] { return context_.tensor({2621440}, host).compute(); };
    line("updown_10mb", "resident", measure([&] {
           const Tensor tensor = upload();
           context_.wait();
         }),
         -1);
    line("updown_10mb", "roundtrip", measure([&] { upload().read(); }), root_mean_square(host));
  }

  Tensor tensor(const Shape& shape, std::uint32_t seed, float shift = -0.5f, float scale = 1.0f) {
    return context_.tensor(shape, generated(shape.size(), seed, shift, scale)).compute();
  }
  Context& context() { return context_; }

 private:
  void line(const std::string& name, const char* mode, const Time& time, double check) {
    std::printf(
        "{\"peer\":\"tessera-%s\",\"driver\":\"%s\",\"workload\":\"%s\",\"mode\":\"%s\",\"best_ms\":%.4f,\"median_ms\":"
        "%.4f,"
        "\"cpu_ms\":%.4f,\"n\":%d",
        std::string(to_string(context_.backend())).c_str(), driver_.c_str(), name.c_str(), mode, time.best, time.median,
        time.cpu, time.runs);
    if (check >= 0) std::printf(",\"check\":%.7g", check);
    std::printf("}\n");
    std::fflush(stdout);
  }

  Context context_;
  std::string driver_;
};

Tensor chain(const Tensor& a, const Tensor& b, int length) {
  Tensor x = a;
  for (int i = 0; i < length; ++i) x = x * 1.01f + b;
  return x;
}

void chains(Runner& runner) {
  for (const int length : {10, 100})
    for (const std::int64_t side : {1024, 2048}) {
      const Tensor a = runner.tensor({side, side}, 1), b = runner.tensor({side, side}, 2);
      runner.workload("chain" + std::to_string(length) + "_" + std::to_string(side),
                      [&] { return chain(a, b, length); });
    }
  const Tensor a = runner.tensor({1024}, 1), b = runner.tensor({1024}, 2);
  runner.workload("small100", [&] { return chain(a, b, 50); });
}

void matmuls(Runner& runner) {
  for (const std::int64_t n : {256, 512, 1024}) {
    const Tensor a = runner.tensor({n, n}, 1), b = runner.tensor({n, n}, 2);
    runner.workload("matmul_" + std::to_string(n), [&] { return matmul(a, b); });
  }
  const Tensor a = runner.tensor({8, 256, 256}, 1), b = runner.tensor({8, 256, 256}, 2);
  runner.workload("matmul_b8_256", [&] { return matmul(a, b); });
}

void convolutions(Runner& runner) {
  const Conv2d same{.padding = Padding::same};
  const Tensor x3 = runner.tensor({1, 128, 128, 16}, 1), k3 = runner.tensor({3, 3, 16, 32}, 2);
  runner.workload("conv3x3", [&] { return conv2d(x3, k3, same); });
  const Tensor x1 = runner.tensor({1, 64, 64, 64}, 1), k1 = runner.tensor({1, 1, 64, 128}, 2);
  runner.workload("conv1x1", [&] { return conv2d(x1, k1, same); });
  const Tensor xd = runner.tensor({1, 128, 128, 32}, 1), kd = runner.tensor({3, 3, 1, 32}, 2);
  runner.workload("depthwise3x3", [&] { return conv2d(xd, kd, {.padding = Padding::same, .groups = 32}); });
}

void square_mean(Runner& runner) {
  std::vector<std::vector<float>> host;
  std::vector<Tensor> resident;
  for (std::uint32_t i = 0; i < 10; ++i) {
    host.push_back(generated(262144, 1 + i));
    resident.push_back(runner.context().tensor({262144}, host.back()).compute());
  }
  const auto mean_of = [](std::span<const Tensor> tensors) {
    Tensor total = mean(square(tensors[0]));
    for (std::size_t i = 1; i < tensors.size(); ++i) total = total + mean(square(tensors[i]));
    return total * 0.1f;
  };
  runner.workload(
      "squaremean", [&] { return mean_of(resident); },
      [&] {
        std::vector<Tensor> uploaded;
        for (const auto& values : host) uploaded.push_back(runner.context().tensor({262144}, values));
        return mean_of(uploaded);
      });
}

void video(Runner& runner) {
  const Shape shape{1, 720, 1280, 4};
  const std::vector<float> host = generated(shape.size(), 1, 0);
  const auto depthwise = [&](const std::vector<float>& kernel, std::int64_t side) {
    std::vector<float> values;
    for (const float value : kernel) values.insert(values.end(), 4, value);
    return runner.context().tensor({side, side, 1, 4}, values).compute();
  };
  std::vector<float> gauss;
  float total = 0;
  for (int y = -2; y <= 2; ++y)
    for (int x = -2; x <= 2; ++x) total += gauss.emplace_back(std::exp(static_cast<float>(-(x * x + y * y)) / 2));
  for (float& value : gauss) value /= total;
  const Tensor blur = depthwise(gauss, 5), sobel_x = depthwise({-1, 0, 1, -2, 0, 2, -1, 0, 1}, 3),
               sobel_y = depthwise({-1, -2, -1, 0, 0, 0, 1, 2, 1}, 3);
  const Tensor colour =
      runner.context()
          .tensor({1, 1, 4, 4}, {0.9f, 0.2f, 0.1f, 0, 0.1f, 0.8f, 0.2f, 0, 0.2f, 0.1f, 0.9f, 0, 0, 0, 0, 1})
          .compute();
  const Conv2d same{.padding = Padding::same, .groups = 4};
  const auto filtered = [&](const Tensor& frame) {
    const Tensor smooth = conv2d(frame, blur, same);
    const Tensor edges = sqrt(square(conv2d(smooth, sobel_x, same)) + square(conv2d(smooth, sobel_y, same)));
    return clip(conv2d(edges, colour, {.padding = Padding::same}), 0, 1);
  };
  const Tensor frame = runner.context().tensor(shape, host).compute();
  runner.workload(
      "video720", [&] { return filtered(frame); }, [&] { return filtered(runner.context().tensor(shape, host)); });
}

void networks(Runner& runner) {
  const Tensor x = runner.tensor({64, 784}, 1), w1 = runner.tensor({784, 512}, 2, -0.5f, 0.1f),
               b1 = runner.tensor({512}, 3), w2 = runner.tensor({512, 256}, 4, -0.5f, 0.1f),
               b2 = runner.tensor({256}, 5), w3 = runner.tensor({256, 10}, 6), b3 = runner.tensor({10}, 7);
  runner.workload("mlp", [&] { return softmax(matmul(relu(matmul(relu(matmul(x, w1) + b1), w2) + b2), w3) + b3); });
  const Tensor y = runner.tensor({512, 768}, 1, -0.5f, 4), gamma = runner.tensor({768}, 2, 0.5f),
               beta = runner.tensor({768}, 3);
  runner.workload("lngelu", [&] { return gelu(layer_norm(y, gamma, beta)); });
}

}  // namespace

int main(int argc, char** argv) {
  const bool on_gles = argc > 1 && std::strcmp(argv[1], "gles") == 0;
  const std::string driver = argc > 2 ? argv[2] : "";
  try {
    Runner runner(Context::create({.prefer = {on_gles ? BackendKind::gles : BackendKind::webgpu}, .driver = driver}),
                  driver.empty() ? "lavapipe" : driver);
    chains(runner);
    matmuls(runner);
    const Tensor rows = runner.tensor({1024, 1024}, 1, -0.5f, 8);
    runner.workload("softmax_1024", [&] { return softmax(rows); });
    convolutions(runner);
    square_mean(runner);
    runner.upload_and_read();
    video(runner);
    networks(runner);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
