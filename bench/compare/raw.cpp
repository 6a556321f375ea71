// Hand-written WGSL on Dawn's C API as a peer of bench/compare: sizes are numbers in the text, pipelines and bind
// groups are made before, and a run is one dispatch where the work allows it (squaremean and mlp take three, video
// two). On a driver that compiles for a CPU it pays that neighbouring invocations write neighbouring elements, that
// what all of them read is uniform, and that there are neither barriers nor branches.
#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <unistd.h>

#include "peer.h"
#include "raw_any_size.h"
#include "raw_device.h"
#include "raw_text.h"

namespace {

using namespace compare;

void only_if(bool fits) {
  if (!fits) throw std::invalid_argument("no kernel was written for these sizes");
}

// x = x * 1.01, x = x + b and so on; neither loops nor calls, as far as compilers bear it.
Work ops(RawDevice& gpu, std::int64_t count, std::int64_t elements) {
  constexpr std::int64_t unrolled = 200, group = 64, row = 4 * group * 32768;
  only_if(elements % (4 * group) == 0);
  std::string pair = "x = fma(x, vec4f(1.01), y);\n", body, block;
  const std::int64_t pairs = count / 2, blocks = pairs > unrolled ? pairs / 50 : 0;
  for (std::int64_t i = 0; i < 50; ++i) block += pair;
  if (blocks) body += with("for (var i = 0u; i < $u; i++) {\n$}\n", {blocks, block});
  for (std::int64_t i = blocks * 50; i < pairs; ++i) body += pair;
  if (count % 2) body += "x *= 1.01;\n";
  WGPUBuffer a = gpu.buffer(generated(elements, 1)), b = gpu.buffer(generated(elements, 2)),
             c = gpu.buffer(static_cast<std::size_t>(elements));
  Work work{{}, c};
  const auto most = static_cast<std::int64_t>(gpu.max_binding() / sizeof(float)) / row * row;
  for (std::int64_t at = 0; at < elements; at += most) {  // a binding may be smaller than a buffer
    const std::int64_t here = std::min(most, elements - at);
    const auto part = [&](WGPUBuffer buffer) {
      return Part{buffer, static_cast<std::uint64_t>(at) * 4, static_cast<std::uint64_t>(here) * 4};
    };
    work.kernels.push_back(
        gpu.kernel({"vec4f", "vec4f", "vec4f"},
                   "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {\n"
                   "  let i = id.y * 2097152u + id.x;\n  var x = a[i]; let y = b[i];\n" +
                       body + "  c[i] = x;\n}",
                   {part(a), part(b), part(c)}, static_cast<std::uint32_t>(std::min(here, row) / 4 / group),
                   static_cast<std::uint32_t>((here + row - 1) / row)));
  }
  return work;
}

// Each invocation makes 8 rows by 2 vectors of columns; neighbours lie along the columns, so that elements of the first
// factor are uniform.
struct Product {
  std::int64_t batch, rows, terms, columns;
  bool has_bias_and_relu = false;
};
bool fits(const Product& p) { return p.columns % 128 == 0 && p.rows % 8 == 0; }
Kernel product(RawDevice& gpu, const Product& p, const std::vector<Part>& buffers) {
  const std::int64_t vectors = p.columns / 4, lanes = vectors % 64 == 0 ? 32 : 16;
  only_if(fits(p));
  std::string sums, step, stores;
  for (int q = 0; q < 2; ++q) {
    const std::string column = "column + " + str(q * lanes) + "u";
    step += with("let b$ = b[from_b + k * $u + $];\n", {q, vectors, column});
    for (int r = 0; r < 8; ++r) {
      const std::string sum = "s" + str(r) + "_" + str(q);
      sums += "var " + sum + " = vec4f();\n";
      stores +=
          with("$[to + $u + $] = $;\n", {p.has_bias_and_relu ? "d" : "c", r * vectors, column,
                                         p.has_bias_and_relu ? "max(" + sum + " + c[" + column + "], vec4f())" : sum});
    }
  }
  for (int r = 0; r < 8; ++r)
    step += with("let a$ = vec4f(a[from_a + $u + k]);\ns$_0 = fma(a$, b0, s$_0);\ns$_1 = fma(a$, b1, s$_1);\n",
                 {r, r * p.terms, r, r, r, r, r, r});
  const std::string text = with(
      "@compute @workgroup_size($) fn main(@builtin(local_invocation_id) lane: vec3u,\n"
      "                                    @builtin(workgroup_id) group: vec3u) {\n"
      "  let row = group.y * 8u; let column = group.x * $u + lane.x;\n"
      "  let from_a = group.z * $u + row * $u; let from_b = group.z * $u; let to = group.z * $u + row * $u;\n"
      "$  for (var k = 0u; k < $u; k++) {\n$}\n$}",
      {lanes, 2 * lanes, p.rows * p.terms, p.terms, p.terms * vectors, p.rows * vectors, vectors, sums, p.terms, step,
       stores});
  std::vector<std::string> types{"f32", "vec4f", "vec4f"};
  if (p.has_bias_and_relu) types.push_back("vec4f");
  return gpu.kernel(types, text, buffers, static_cast<std::uint32_t>(vectors / 2 / lanes),
                    static_cast<std::uint32_t>(p.rows / 8), static_cast<std::uint32_t>(p.batch));
}

Work matmul(RawDevice& gpu, const Numbers& n) {
  if (n[4] != 0 || !fits({n[0], n[1], n[2], n[3]})) return matmul_of_any_size(gpu, n);
  WGPUBuffer a = gpu.buffer(generated(n[0] * n[1] * n[2], 1)), b = gpu.buffer(generated(n[0] * n[2] * n[3], 2)),
             c = gpu.buffer(static_cast<std::size_t>(n[0] * n[1] * n[3]));
  return {{product(gpu, {n[0], n[1], n[2], n[3]}, {{a}, {b}, {c}})}, c};
}

Work softmax(RawDevice& gpu, std::int64_t rows, std::int64_t columns, std::int64_t axis) {  // a row each
  if (rows % 64 != 0 || columns % 4 != 0 || axis == 0) return softmax_of_any_size(gpu, {rows, columns, axis});
  WGPUBuffer a = gpu.buffer(generated(rows * columns, 1, -0.5f, 8)),
             b = gpu.buffer(static_cast<std::size_t>(rows * columns));
  const std::string loop = with("for (var k = at; k < at + $u; k++)", {columns / 4});
  const std::string text = with(R"(
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let at = id.x * $u;
  var high = vec4f(-3e38);
  $ { high = max(high, a[k]); }
  let highest = max(max(high.x, high.y), max(high.z, high.w));
  var sum = vec4f();
  $ { let e = exp(a[k] - highest); sum += e; b[k] = e; }
  let factor = 1.0 / (sum.x + sum.y + sum.z + sum.w);
  $ { b[k] *= factor; }
})",
                                {columns / 4, loop, loop, loop});
  return {{gpu.kernel({"vec4f", "vec4f"}, text, {{a}, {b}}, static_cast<std::uint32_t>(rows / 64))}, b};
}

// A 3x3 convolution with same padding, of `pixels` in a row at a time; the lanes are vectors of channels of the result.
// `load` is how the text reads the image at column $, `filter` how it reads the filter's column $.
Kernel conv3x3(RawDevice& gpu, std::int64_t height, std::int64_t width, std::int64_t out_vectors, int pixels,
               const std::string& image_type, const std::string& row, const std::string& channels,
               const std::string& load, const std::string& filter, const std::vector<Part>& buffers) {
  std::string sums, step, stores;
  for (int r = 0; r < pixels; ++r) {
    sums += "var s" + str(r) + " = vec4f();\n";
    stores += with("c[(group.y * $u + x0 + $u) * $u + lane.x] = s$;\n", {width, r, out_vectors, r});
  }
  for (int i = 0; i < pixels + 2; ++i) {
    std::string value = with(load, {"(x0 + " + str(i) + "u - 1u)"});
    if (i == 0) value = "select(vec4f(), " + with(load, {"(max(x0, 1u) - 1u)"}) + ", x0 > 0u)";
    if (i == pixels + 1)
      value = with("select(vec4f(), $, x0 + $u < $u)",
                   {with(load, {with("min(x0 + $u, $u)", {pixels, width - 1})}), pixels, width});
    step += "let i" + str(i) + " = " + value + ";\n";
  }
  for (int x = 0; x < 3; ++x) {
    step += "let w" + str(x) + " = " + with(filter, {x}) + ";\n";
    for (int r = 0; r < pixels; ++r) step += with("s$ = fma(i$, w$, s$);\n", {r, r + x, x, r});
  }
  const std::string text = with(R"(
@compute @workgroup_size($) fn main(@builtin(local_invocation_id) lane: vec3u, @builtin(workgroup_id) group: vec3u) {
  let x0 = group.x * $u;
  $for (var ky = 0u; ky < 3u; ky++) {
    let y = i32(group.y + ky) - 1;
    if (y >= 0 && y < $) {
      let row = u32(y) * $;
      $ { $ }
    }
  }
  $})",
                                {out_vectors, pixels, sums, height, row, channels, step, stores});
  return gpu.kernel({image_type, "vec4f", "vec4f"}, text, buffers, static_cast<std::uint32_t>(width / pixels),
                    static_cast<std::uint32_t>(height));
}

Work conv(RawDevice& gpu, const Numbers& n) {  // batch, height, width, channels, channels of the result, side, stride
  const std::int64_t height = n[1], width = n[2], in = n[3], out = n[4];
  const bool is_product = n[5] == 1 && fits({1, height * width, in, out}),
             is_in_vectors = n[5] == 3 && out % 4 == 0 && out <= 256 && width % 8 == 0;
  if (n[0] != 1 || n[6] != 1 || (!is_product && !is_in_vectors)) return conv_of_any_size(gpu, n);
  WGPUBuffer x = gpu.buffer(generated(height * width * in, 1)), w = gpu.buffer(generated(n[5] * n[5] * in * out, 2)),
             y = gpu.buffer(static_cast<std::size_t>(height * width * out));
  if (n[5] == 1) return {{product(gpu, {1, height * width, in, out}, {{x}, {w}, {y}})}, y};
  return {{conv3x3(gpu, height, width, out / 4, 8, "f32", str(width * in) + "u",
                   with("for (var channel = 0u; channel < $u; channel++)", {in}),
                   with("vec4f(a[row + $ * $u + channel])", {"$", in}),
                   with("b[((ky * 3u + $u) * $u + channel) * $u + lane.x]", {"$", in, out / 4}), {{x}, {w}, {y}})},
          y};
}

Work depthwise(RawDevice& gpu, const Numbers& n) {  // batch, height, width, channels, side
  const std::int64_t height = n[1], width = n[2], vectors = n[3] / 4;
  if (n[0] != 1 || n[4] != 3 || n[3] % 4 != 0 || width % 4 != 0 || vectors > 256) return depthwise_of_any_size(gpu, n);
  WGPUBuffer x = gpu.buffer(generated(height * width * n[3], 1)), w = gpu.buffer(generated(9 * n[3], 2)),
             y = gpu.buffer(static_cast<std::size_t>(height * width * n[3]));
  return {{conv3x3(gpu, height, width, vectors, 4, "vec4f", str(width * vectors) + "u + lane.x", "",
                   with("a[row + $ * $u]", {"$", vectors}), with("b[(ky * 3u + $u) * $u + lane.x]", {"$", vectors}),
                   {{x}, {w}, {y}})},
          y};
}

Work square_mean(RawDevice& gpu, std::int64_t tensors, std::int64_t count) {  // five tensors at a time, then their sums
  only_if(tensors == 10 && count % 4 == 0);
  constexpr std::int64_t partial = 512;
  const std::string sums = with(R"(
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  var s = vec4f();
  for (var i = id.x; i < $u; i += $u) {
    let v = a[i]; let w = b[i]; let x = c[i]; let y = d[i]; let z = e[i];
    s = fma(v, v, s); s = fma(w, w, s); s = fma(x, x, s); s = fma(y, y, s); s = fma(z, z, s);
  }
  f[id.x] = s.x + s.y + s.z + s.w;
})",
                                {count / 4, partial});
  WGPUBuffer result = gpu.buffer(1);
  std::array<WGPUBuffer, 2> halves{gpu.buffer(partial), gpu.buffer(partial)};
  Work work{{}, result};
  for (std::uint32_t half = 0; half < 2; ++half) {
    std::vector<Part> buffers;
    for (std::uint32_t i = 1; i <= 5; ++i) buffers.push_back({gpu.buffer(generated(count, half * 5 + i))});
    buffers.push_back({halves[half]});
    work.kernels.push_back(
        gpu.kernel({"vec4f", "vec4f", "vec4f", "vec4f", "vec4f", "f32"}, sums, buffers, partial / 64));
  }
  work.kernels.push_back(gpu.kernel({"f32", "f32", "f32"},
                                    with("@compute @workgroup_size(1) fn main() {\n  var s = 0.0;\n"
                                         "  for (var i = 0u; i < $u; i++) { s += a[i] + b[i]; }\n  c[0] = s / $.0;\n}",
                                         {partial, tensors * count}),
                                    {{halves[0]}, {halves[1]}, {result}}, 1));
  return work;
}

// One pass over windows of (2 * reach + 1)² pixels, of 8 pixels in a row at a time, which share what they read.
// `add(pixel, x, y, value)` is what a pixel of the window contributes.
template <class Add>
std::string windows(std::int64_t width, std::int64_t height, int reach, const Add& add) {
  std::string text;
  const int reads = 8 + 2 * reach;
  const auto is_edge = [&](int j) { return j < reach || j >= 8 + reach; };
  for (int j = 0; j < reads; ++j) {
    text += with("let c$ = u32(clamp(x0 + $, 0, $));\n", {j, j - reach, width - 1});
    if (is_edge(j)) text += with("let k$ = x0 + $ >= 0 && x0 + $ < $;\n", {j, j - reach, j - reach, width});
  }
  for (int y = -reach; y <= reach; ++y) {
    text += with("{ let yy = y + $; let inside = yy >= 0 && yy < $; let at = u32(clamp(yy, 0, $) * $);\n",
                 {y, height, height - 1, width});
    for (int j = 0; j < reads; ++j)
      text += with("let v$ = select(vec4f(), a[at + c$], inside$);\n",
                   {j, j, is_edge(j) ? " && k" + str(j) : std::string()});
    for (int x = -reach; x <= reach; ++x)
      for (int r = 0; r < 8; ++r) text += add(r, x, y, "v" + str(r + x + reach));
    text += "}\n";
  }
  return text;
}

Work video(RawDevice& gpu, std::int64_t width, std::int64_t height) {  // blur; then edges, colours, clamp
  only_if(width % 8 == 0);
  const std::string head = with(
      "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {\n"
      "let x0 = i32(id.x) * 8; let y = i32(id.y); if (x0 >= $) { return; }\n",
      {width});
  std::string blur = head, edges = head, blur_end, edges_end;
  for (int r = 0; r < 8; ++r) {
    const std::string to = with("b[u32(y * $ + x0 + $)]", {width, r});
    blur += "var s" + str(r) + " = vec4f();\n";
    blur_end += to + " = s" + str(r) + ";\n";
    edges += with("var p$ = vec4f(); var q$ = vec4f();\n", {r, r});
    edges_end +=
        with("{ let m = sqrt(p$ * p$ + q$ * q$); $ = clamp(vec4f(colour * m.xyz, m.w), vec4f(), vec4f(1)); }\n",
             {r, r, r, r, to});
  }
  const std::vector<float> gauss = gaussian_5x5();
  blur += windows(width, height, 2, [&](int r, int x, int y, const std::string& value) {
    const float weight = gauss[static_cast<std::size_t>((y + 2) * 5 + x + 2)];
    return with("s$ = fma($, vec4f($), s$);\n", {r, value, weight, r});
  });
  edges += windows(width, height, 1, [](int r, int x, int y, const std::string& value) {
    std::string text;
    if (x) text += with("p$ = fma($, vec4f($), p$);\n", {r, value, x * (y ? 1 : 2), r});
    if (y) text += with("q$ = fma($, vec4f($), q$);\n", {r, value, y * (x ? 1 : 2), r});
    return text;
  });
  edges += "let colour = mat3x3f(0.9, 0.2, 0.1, 0.1, 0.8, 0.2, 0.2, 0.1, 0.9);\n";
  const auto groups = static_cast<std::uint32_t>((width / 8 + 63) / 64), rows = static_cast<std::uint32_t>(height);
  const auto count = static_cast<std::size_t>(width * height * 4);
  WGPUBuffer x = gpu.buffer(generated(width * height * 4, 1, 0)), smooth = gpu.buffer(count), y = gpu.buffer(count);
  return {{gpu.kernel({"vec4f", "vec4f"}, blur + blur_end + "}", {{x}, {smooth}}, groups, rows),
           gpu.kernel({"vec4f", "vec4f"}, edges + edges_end + "}", {{smooth}, {y}}, groups, rows)},
          y};
}

Work mlp(RawDevice& gpu, std::int64_t batch) {
  only_if(batch % 8 == 0);
  std::string sums, step, highest = "s0", exps, stores;
  for (int j = 0; j < 10; ++j) {
    sums += with("var s$ = c[$];\n", {j, j});
    step += with("s$ = fma(v, b[k * 10u + $u], s$);\n", {j, j, j});
    if (j) highest = with("max($, s$)", {highest, j});
    exps += with("s$ = exp(s$ - high); total += s$;\n", {j, j, j});
    stores += with("d[row * 10u + $u] = s$ / total;\n", {j, j});
  }
  const std::string last = with(
      "@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {\n  let row = id.x;\n$"
      "for (var k = 0u; k < 256u; k++) { let v = a[row * 256u + k];\n$}\nlet high = $; var total = 0.0;\n$$}",
      {sums, step, highest, exps, stores});
  const auto rows = static_cast<std::size_t>(batch);
  WGPUBuffer x = gpu.buffer(generated(batch * 784, 1)), w1 = gpu.buffer(generated(784 * 512, 2, -0.5f, 0.1f)),
             b1 = gpu.buffer(generated(512, 3)), w2 = gpu.buffer(generated(512 * 256, 4, -0.5f, 0.1f)),
             b2 = gpu.buffer(generated(256, 5)), w3 = gpu.buffer(generated(2560, 6)), b3 = gpu.buffer(generated(10, 7)),
             h1 = gpu.buffer(rows * 512), h2 = gpu.buffer(rows * 256), y = gpu.buffer(rows * 10);
  return {
      {product(gpu, {1, batch, 784, 512, true}, {{x}, {w1}, {b1}, {h1}}),
       product(gpu, {1, batch, 512, 256, true}, {{h1}, {w2}, {b2}, {h2}}),
       gpu.kernel({"f32", "f32", "f32", "f32"}, last, {{h2}, {w3}, {b3}, {y}}, static_cast<std::uint32_t>(batch / 8))},
      y};
}

Work layer_norm_gelu(RawDevice& gpu, std::int64_t rows, std::int64_t columns) {  // a row each
  only_if(rows % 8 == 0 && columns % 4 == 0);
  const std::string vectors = str(columns / 4), n = str(columns) + ".0";
  const std::string loop = with("for (var k = 0u; k < $u; k++)", {vectors});
  const std::string text = with(R"(
fn erf(v: vec4f) -> vec4f {  // Abramowitz and Stegun 7.1.26
  let x = abs(v); let t = 1.0 / (1.0 + 0.3275911 * x);
  let p = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return sign(v) * (1.0 - p * exp(-x * x));
}
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {
  let at = id.x * $u;
  var s = vec4f();
  $ { s += a[at + k]; }
  let mean = (s.x + s.y + s.z + s.w) / $;
  s = vec4f();
  $ { let q = a[at + k] - mean; s = fma(q, q, s); }
  let scale = inverseSqrt((s.x + s.y + s.z + s.w) / $ + 1e-5);
  $ { let v = (a[at + k] - mean) * scale * b[k] + c[k]; d[at + k] = 0.5 * v * (1.0 + erf(v * 0.70710678)); }
})",
                                {vectors, loop, n, loop, n, loop});
  WGPUBuffer x = gpu.buffer(generated(rows * columns, 1, -0.5f, 4)), gamma = gpu.buffer(generated(columns, 2, 0.5f)),
             beta = gpu.buffer(generated(columns, 3)), y = gpu.buffer(static_cast<std::size_t>(rows * columns));
  return {{gpu.kernel({"vec4f", "vec4f", "vec4f", "vec4f"}, text, {{x}, {gamma}, {beta}, {y}},
                      static_cast<std::uint32_t>(rows / 8))},
          y};
}

Work work_of(RawDevice& gpu, const std::string& operation, const Numbers& n) {
  if (operation == "ops") return ops(gpu, n[0], n[1] * n[2]);
  if (operation == "matmul") return matmul(gpu, n);
  if (operation == "softmax") return softmax(gpu, n[0], n[1], n[2]);
  if (operation == "conv") return conv(gpu, n);
  if (operation == "depthwise") return depthwise(gpu, n);
  if (operation == "squaremean") return square_mean(gpu, n[0], n[1]);
  if (operation == "video") return video(gpu, n[0], n[1]);
  if (operation == "mlp") return mlp(gpu, n[0]);
  if (operation == "lngelu") return layer_norm_gelu(gpu, n[0], n[1]);
  throw std::invalid_argument("no kernel was written for " + operation);
}

Workload make(RawDevice& gpu, const std::string& operation, const Arguments& arguments) {
  gpu.free_buffers();
  if (operation == "upload" || operation == "updown") {
    const std::vector<float> host = generated(integers(arguments)[0], 1);
    WGPUBuffer buffer = gpu.buffer(host.size());
    const auto both = [&gpu, host, buffer] {
      gpu.write(buffer, host);
      return gpu.read({}, buffer);
    };
    if (operation == "updown") return {.run = [both] { both(); }, .result = both};
    return {.run =
                [&gpu, host, buffer] {
                  gpu.write(buffer, host);
                  gpu.run({});
                },
            .result = both};
  }
  if (operation == "model") throw std::invalid_argument("no network was written by hand");
  const Work work = work_of(gpu, operation, integers(arguments));
  return {.run = [&gpu, work] { gpu.run(work.kernels); },
          .result = [&gpu, work] { return gpu.read(work.kernels, work.result); }};
}

}  // namespace

int main() {
  try {
    RawDevice gpu;
    serve(gpu.name(),
          [&](const std::string& operation, const Arguments& arguments) { return make(gpu, operation, arguments); });
    std::fflush(stdout);
    _exit(0);  // without what drivers do at the end
  } catch (const std::exception& error) {
    fail(error.what());
    return 1;
  }
}
