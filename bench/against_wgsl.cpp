// A fused chain beside the WGSL that one would write by hand for it, on one device and in turns, so that whatever else
// the machine does meets both: how much longer the chain takes, and what of that is the host's.
//
//   against_wgsl [driver]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <tessera/custom.h>
#include <tessera/tessera.h>

namespace {

using namespace tessera;

constexpr int rounds = 100;

CustomKernel by_hand(int length) {
  std::string body;
  for (int i = 0; i < length; ++i) body += "  x = fma(x, vec4f(1.01), y);\n";
  return {.name = "chain_" + std::to_string(length), .inputs = {"a", "b"}, .outputs = {"c"}, .wgsl = R"(
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4f>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  var x = a[id.x];
  let y = b[id.x];
)" + body + "  c[id.x] = x;\n}\n"};
}

Tensor by_tessera(const Tensor& a, const Tensor& b, int length) {
  Tensor x = a;
  for (int i = 0; i < length; ++i) x = x * 1.01f + b;
  return x;
}

template <class Work>
double milliseconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void compare(Context& gpu, int length, std::int64_t side) {
  const Tensor a = uniform(gpu, {side, side}, 1).compute(), b = uniform(gpu, {side, side}, 2).compute();
  const CustomKernel kernel = by_hand(length);
  const CustomRun run{.inputs = {{"a", a}, {"b", b}},
                      .outputs = {{"c", {.shape = {side, side}}}},
                      .workgroup_count = {static_cast<std::uint32_t>(side * side / 4 / 64), 1, 1}};
  const auto wgsl = [&] {
    run_custom(gpu, kernel, run).at("c").compute();
    gpu.wait();
  };
  double host = 0;
  const auto tessera = [&] {
    host = milliseconds([&] { by_tessera(a, b, length).compute(); });
    gpu.wait();
  };
  const std::vector<float> want = run_custom(gpu, kernel, run).at("c").read(), got = by_tessera(a, b, length).read();
  for (std::size_t i = 0; i < want.size(); i += 997)
    if (std::abs(got[i] - want[i]) > 1e-3f * std::abs(want[i]))
      throw Error(ErrorCode::unsupported, "against_wgsl: the two do not agree.");

  std::vector<double> by_tessera_ms, by_hand_ms, ratios, host_ms;
  for (int i = 0; i < rounds; ++i) {
    if (i % 2 == 0) by_hand_ms.push_back(milliseconds(wgsl));
    by_tessera_ms.push_back(milliseconds(tessera));
    host_ms.push_back(host);
    if (i % 2 == 1) by_hand_ms.push_back(milliseconds(wgsl));
    ratios.push_back(by_tessera_ms.back() / by_hand_ms.back());
  }
  std::printf(
      "%4d x (x * 1.01 + b), [%lld,%lld]: tessera %7.2f ms (host %.2f), by hand %7.2f ms, median of ratios %.3f\n",
      length, static_cast<long long>(side), static_cast<long long>(side), median(by_tessera_ms), median(host_ms),
      median(by_hand_ms), median(ratios));
}

}  // namespace

int main(int count, char** arguments) {
  try {
    Context gpu = Context::create({.prefer = {BackendKind::webgpu}, .driver = count > 1 ? arguments[1] : ""});
    std::printf("on %s\n", gpu.device().name.c_str());
    for (const int length : {10, 100})
      for (const std::int64_t side : {1024, 2048}) compare(gpu, length, side);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
