// Work of tessera beside the WGSL that one would write by hand for it and for its sizes, on one device and in turns, so
// that whatever else the machine does meets both: how much longer tessera takes, and what of that is the host's.
//
//   against_wgsl [driver] [part of a workload's name]
//
// The second ratio is that of processor time, of all threads: on a driver that computes on the CPU it is the one that
// other programs on the machine change least. The kernels by hand have their sizes as constants, lanes along the
// result's last axis, and no barriers.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/custom.h>
#include <tessera/tessera.h>

namespace {

using namespace tessera;

template <class Work>
double milliseconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

struct Times {
  std::vector<double> all, processor;  // in milliseconds

  template <class Work>
  void add(const Work& work) {
    const std::clock_t start = std::clock();
    all.push_back(milliseconds(work));
    processor.push_back(1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
};

std::vector<double> ratios(const std::vector<double>& these, const std::vector<double>& those) {
  std::vector<double> result;
  for (std::size_t i = 0; i < these.size(); ++i) result.push_back(these[i] / those[i]);
  return result;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

std::string text(std::int64_t number) { return std::to_string(number) + "u"; }

// Puts each text in the place of its $name.
std::string filled(std::string code, const std::vector<std::pair<std::string, std::string>>& parts) {
  for (const auto& [name, part] : parts)
    for (std::size_t at; (at = code.find("$" + name)) != std::string::npos;) code.replace(at, name.size() + 1, part);
  return code;
}

struct ByHand {
  std::vector<std::string> types;  // of the elements of the inputs
  std::string code;                // of main, after bindings a, b, ... and c for the result
  std::uint32_t workgroup_size;
  std::array<std::uint32_t, 3> workgroups;
};

constexpr std::string_view names = "abdefghi";  // of inputs

CustomKernel kernel_of(const std::string& name, const ByHand& by_hand) {
  CustomKernel kernel{.name = name, .outputs = {"c"}};
  std::string code;
  for (std::size_t i = 0; i < by_hand.types.size(); ++i) {
    kernel.inputs.emplace_back(std::string(1, names[i]));
    code += "@group(0) @binding(" + std::to_string(i) + ") var<storage, read> " + names[i] + ": array<" +
            by_hand.types[i] + ">;\n";
  }
  kernel.wgsl = code + "@group(0) @binding(" + std::to_string(by_hand.types.size()) +
                ") var<storage, read_write> c: array<vec4f>;\n@compute @workgroup_size(" +
                std::to_string(by_hand.workgroup_size) +
                ") fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) l: vec3u, "
                "@builtin(workgroup_id) w: vec3u) {\n" +
                by_hand.code + "}\n";
  return kernel;
}

ByHand chain_by_hand(int length, std::int64_t elements) {
  std::string code = "var x = a[id.x]; let y = b[id.x];\n";
  for (int i = 0; i < length; ++i) code += "x = fma(x, vec4f(1.01), y);\n";
  return {{"vec4f", "vec4f"}, code + "c[id.x] = x;\n", 64, {static_cast<std::uint32_t>(elements / 256), 1, 1}};
}

Tensor chain(const Tensor& a, const Tensor& b, int length) {
  Tensor x = a;
  for (int i = 0; i < length; ++i) x = x * 1.01f + b;
  return x;
}

// Eight rows by two texels of columns for an invocation.
ByHand matmul_by_hand(std::int64_t rows, std::int64_t columns, std::int64_t inner, std::int64_t batches) {
  const std::int64_t texels = columns / 4, lanes = std::min<std::int64_t>(32, texels / 2);
  std::string code = "let row = w.y * 8u; let column = w.x * " + text(2 * lanes) + " + l.x;\n", products, stores;
  for (int r = 0; r < 8; ++r) {
    const std::string index = std::to_string(r);
    code += "var x" + index + " = vec4f(); var y" + index + " = vec4f();\n";
    products += "{ let v = vec4f(a[(w.z * $M + row + " + index + "u) * $K + k]); x" + index + " = fma(v, p, x" + index +
                "); y" + index + " = fma(v, q, y" + index + "); }\n";
    const std::string place = "c[(w.z * $M + row + " + index + "u) * $T + column";
    stores += place + "] = x" + index + ";\n" + place + " + " + text(lanes) + "] = y" + index + ";\n";
  }
  code += "for (var k = 0u; k < $K; k++) {\nlet at = (w.z * $K + k) * $T + column; let p = b[at]; let q = b[at + " +
          text(lanes) + "];\n" + products + "}\n" + stores;
  return {{"f32", "vec4f"},
          filled(code, {{"M", text(rows)}, {"K", text(inner)}, {"T", text(texels)}}),
          static_cast<std::uint32_t>(lanes),
          {static_cast<std::uint32_t>(texels / lanes / 2), static_cast<std::uint32_t>(rows / 8),
           static_cast<std::uint32_t>(batches)}};
}

// A row for an invocation.
ByHand softmax_by_hand(std::int64_t rows, std::int64_t columns) {
  return {{"vec4f"},
          filled(R"(let o = id.x * $C; var m = vec4f(-3e38); var s = vec4f();
for (var k = 0u; k < $C; k++) { m = max(m, a[o + k]); }
let largest = max(max(m.x, m.y), max(m.z, m.w));
for (var k = 0u; k < $C; k++) { let e = exp(a[o + k] - largest); s += e; c[o + k] = e; }
let r = 1.0 / (s.x + s.y + s.z + s.w);
for (var k = 0u; k < $C; k++) { c[o + k] *= r; }
)",
                 {{"C", text(columns / 4)}}),
          64,
          {static_cast<std::uint32_t>(rows / 64), 1, 1}};
}

ByHand layer_norm_by_hand(std::int64_t rows, std::int64_t columns) {
  return {{"vec4f", "vec4f", "vec4f"},
          filled(R"(let o = id.x * $C; var s = vec4f();
for (var k = 0u; k < $C; k++) { s += a[o + k]; }
let m = (s.x + s.y + s.z + s.w) / f32(4u * $C);
s = vec4f();
for (var k = 0u; k < $C; k++) { let q = a[o + k] - m; s = fma(q, q, s); }
let r = inverseSqrt((s.x + s.y + s.z + s.w) / f32(4u * $C) + 1e-5);
for (var k = 0u; k < $C; k++) {
  let v = (a[o + k] - m) * r * b[k] + d[k]; let x = abs(v) * 0.70710678; let t = 1.0 / (1.0 + 0.3275911 * x);
  let p = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  c[o + k] = 0.5 * v * (1.0 + sign(v) * (1.0 - p * exp(-x * x)));
}
)",
                 {{"C", text(columns / 4)}}),
          8,
          {static_cast<std::uint32_t>(rows / 8), 1, 1}};
}

// A texel of channels of `pixels` pixels side by side for an invocation: a row of the image at a time is in registers.
ByHand conv3x3_by_hand(std::int64_t side, std::int64_t image_channels, std::int64_t channels, bool is_depthwise) {
  const int pixels = is_depthwise ? 4 : 8;
  std::string code = "let x0 = w.x * " + std::to_string(pixels) + "u;\n", reads, products, stores;
  for (int i = 0; i < pixels + 2; ++i) {
    const std::string index = std::to_string(i);
    const std::string at = is_depthwise ? "a[(row + p) * $T + l.x]" : "vec4f(a[(row + p) * $I + i])";
    reads += "var v" + index + " = vec4f(); { let x = x0 + " + index + "u; let p = clamp(x, 1u, $S) - 1u; v" + index +
             " = select(vec4f(), " + at + ", x > 0u && x <= $S); }\n";
  }
  for (int tap = 0; tap < 3; ++tap) {
    const std::string index = std::to_string(tap);
    products += "{ let f = b[" +
                (is_depthwise ? "(y * 3u + " + index + "u) * $T" : "((y * 3u + " + index + "u) * $I + i) * $T") +
                " + l.x];\n";
    for (int i = 0; i < pixels; ++i)
      products += "s" + std::to_string(i) + " = fma(v" + std::to_string(i + tap) + ", f, s" + std::to_string(i) + ");";
    products += "}\n";
  }
  for (int i = 0; i < pixels; ++i) {
    code += "var s" + std::to_string(i) + " = vec4f();\n";
    stores += "c[(w.y * $S + x0 + " + std::to_string(i) + "u) * $T + l.x] = s" + std::to_string(i) + ";\n";
  }
  code += "for (var y = 0u; y < 3u; y++) { let at = w.y + y; if (at > 0u && at <= $S) { let row = (at - 1u) * $S;\n" +
          (is_depthwise ? reads + products : "for (var i = 0u; i < $I; i++) {\n" + reads + products + "}\n") + "} }\n" +
          stores;
  return {{is_depthwise ? "vec4f" : "f32", "vec4f"},
          filled(code, {{"S", text(side)}, {"T", text(channels / 4)}, {"I", text(image_channels)}}),
          static_cast<std::uint32_t>(channels / 4),
          {static_cast<std::uint32_t>(side / pixels), static_cast<std::uint32_t>(side), 1}};
}

// 256 sums, each in the four components of a texel, of which the host makes one.
ByHand squares_by_hand(std::int64_t elements) {
  return {{"vec4f"},
          "var s = vec4f();\nfor (var i = id.x; i < " + text(elements / 4) +
              "; i += 256u) { let v = a[i]; s = fma(v, v, s); }\nc[id.x] = s;\n",
          64,
          {4, 1, 1}};
}

struct Comparison {
  std::string name;
  std::vector<Tensor> inputs;
  ByHand by_hand;
  Shape result;
  std::function<Tensor()> by_tessera;
  bool is_total = false;  // the sum of the elements by hand is the one of tessera
};

void check(const Comparison& comparison, const std::vector<float>& want, const std::vector<float>& got) {
  double total = 0;
  for (const float value : want) total += value;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double expected = comparison.is_total ? total : want[i];
    if (std::abs(got[i] - expected) > 1e-3 * (1 + std::abs(expected)))
      throw Error(ErrorCode::unsupported, "against_wgsl: the two do not agree on " + comparison.name + ".");
  }
}

void compare(Context& gpu, const Comparison& comparison) {
  const DefinedKernel kernel = define_kernel(gpu, kernel_of(comparison.name, comparison.by_hand));
  CustomRun run{.outputs = {{"c", {.shape = comparison.result}}}, .workgroup_count = comparison.by_hand.workgroups};
  for (std::size_t i = 0; i < comparison.inputs.size(); ++i)
    run.inputs.emplace(std::string(1, names[i]), comparison.inputs[i]);
  const auto wgsl = [&] {
    kernel.run(run).at("c").compute();
    gpu.wait();
  };
  double host = 0;
  const auto tessera = [&] {
    host = milliseconds([&] { comparison.by_tessera().compute(); });
    gpu.wait();
  };
  check(comparison, kernel.run(run).at("c").read(), comparison.by_tessera().read());

  constexpr double enough_ms = 3000;
  Times by_tessera, by_hand;
  std::vector<double> host_ms;
  double total = 0;
  for (int i = 0; i < 100 && (i < 10 || total < enough_ms); ++i) {
    if (i % 2 == 0) by_hand.add(wgsl);
    by_tessera.add(tessera);
    host_ms.push_back(host);
    if (i % 2 == 1) by_hand.add(wgsl);
    total += by_tessera.all.back() + by_hand.all.back();
  }
  std::printf("%-16s tessera %7.2f ms (host %.2f), by hand %7.2f ms, median of ratios %.3f, of processor time %.3f\n",
              comparison.name.c_str(), median(by_tessera.all), median(host_ms), median(by_hand.all),
              median(ratios(by_tessera.all, by_hand.all)), median(ratios(by_tessera.processor, by_hand.processor)));
  std::fflush(stdout);
}

std::vector<Comparison> comparisons(Context& gpu) {
  std::uint64_t seed = 0;
  const auto tensor = [&](const Shape& shape) { return (uniform(gpu, shape, ++seed) - 0.5f).compute(); };
  std::vector<Comparison> all;
  for (const int length : {10, 100})
    for (const std::int64_t side : {1024, 2048}) {
      const Tensor a = tensor({side, side}), b = tensor({side, side});
      all.push_back({"chain" + std::to_string(length) + "_" + std::to_string(side),
                     {a, b},
                     chain_by_hand(length, side * side),
                     {side, side},
                     [=] { return chain(a, b, length); }});
    }
  for (const std::int64_t n : {256, 512, 1024}) {
    const Tensor a = tensor({n, n}), b = tensor({n, n});
    all.push_back(
        {"matmul_" + std::to_string(n), {a, b}, matmul_by_hand(n, n, n, 1), {n, n}, [=] { return matmul(a, b); }});
  }
  const Tensor a = tensor({8, 256, 256}), b = tensor({8, 256, 256});
  all.push_back(
      {"matmul_b8_256", {a, b}, matmul_by_hand(256, 256, 256, 8), {8, 256, 256}, [=] { return matmul(a, b); }});
  const Tensor logits = (tensor({1024, 1024}) * 8.0f).compute();
  all.push_back({"softmax_1024", {logits}, softmax_by_hand(1024, 1024), {1024, 1024}, [=] { return softmax(logits); }});
  const Tensor x = tensor({512, 768}), gamma = tensor({768}), beta = tensor({768});
  all.push_back({"lngelu", {x, gamma, beta}, layer_norm_by_hand(512, 768), {512, 768}, [=] {
                   return gelu(layer_norm(x, {.gamma = gamma, .beta = beta}));
                 }});
  const Conv2d same{.padding = Padding::same};
  const Tensor wide = tensor({1, 128, 128, 16}), filter = tensor({3, 3, 16, 32});
  all.push_back({"conv3x3", {wide, filter}, conv3x3_by_hand(128, 16, 32, false), {1, 128, 128, 32}, [=] {
                   return conv2d(wide, filter, same);
                 }});
  const Tensor deep = tensor({1, 64, 64, 64}), mixing = tensor({1, 1, 64, 128});
  all.push_back({"conv1x1", {deep, mixing}, matmul_by_hand(4096, 128, 64, 1), {1, 64, 64, 128}, [=] {
                   return conv2d(deep, mixing, same);
                 }});
  const Tensor layers = tensor({1, 128, 128, 32}), blur = tensor({3, 3, 1, 32});
  all.push_back({"depthwise3x3", {layers, blur}, conv3x3_by_hand(128, 32, 32, true), {1, 128, 128, 32}, [=] {
                   return conv2d(layers, blur, {.padding = Padding::same, .groups = 32});
                 }});
  const Tensor vector = tensor({2621440});
  all.push_back({"squares", {vector}, squares_by_hand(2621440), {1024}, [=] { return sum(square(vector)); }, true});
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    Context gpu = Context::create({.prefer = {BackendKind::webgpu}, .driver = count > 1 ? arguments[1] : ""});
    std::printf("on %s\n", gpu.device().name.c_str());
    for (const Comparison& comparison : comparisons(gpu))
      if (count < 3 || comparison.name.find(arguments[2]) != std::string::npos) compare(gpu, comparison);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
