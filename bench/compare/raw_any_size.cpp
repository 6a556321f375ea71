#include "raw_any_size.h"

#include <algorithm>
#include <functional>

#include "peer.h"

namespace compare {
namespace {

constexpr std::int64_t parts(std::int64_t count, std::int64_t step) { return (count + step - 1) / step; }
constexpr std::uint32_t word(std::int64_t number) { return static_cast<std::uint32_t>(number); }

// A kernel with a result of [batch, rows, columns]. Neighbours lie along the columns, so that what they read is in
// order, and each makes `height` rows of up to four columns, which are as far apart as there are neighbours. Those
// beyond the last column make it again. On a driver that compiles for a CPU, eight lanes are a vector.
class Sums {
 public:
  Sums(std::int64_t height, std::int64_t columns) : height_(height), columns_(columns) {
    const std::int64_t vectors = parts(columns, 8);
    each_ = std::min<std::int64_t>(4, vectors);
    lanes_ = std::min<std::int64_t>(64, parts(vectors, each_) * 8);
  }

  std::string before, loops, loops_end;                                   // loops go around what is read
  std::function<std::string(std::int64_t row, const std::string&column)>  // elements of the operands, and of the result
      a, b, c;
  bool a_is_the_same_in_columns = true, b_is_the_same_in_rows = true;

  std::uint32_t workgroups() const { return word(parts(columns_, lanes_ * each_)); }
  std::string text() const {
    std::string columns, zeros, reads, stores;
    for (std::int64_t q = 0; q < each_; ++q) {
      const std::string column = "column" + str(q);
      columns += with("let $ = min(first + $u, $u);\n", {column, q * lanes_, columns_ - 1});
      for (std::int64_t r = 0; r < height_; ++r) {
        const std::string sum = with("s$_$", {r, q}),
                          of_a = a_is_the_same_in_columns ? "a" + str(r) : with("a$_$", {r, q}),
                          of_b = b_is_the_same_in_rows ? "b" + str(q) : with("b$_$", {r, q});
        zeros += "var " + sum + " = 0.0;\n";
        if (q == 0 || !a_is_the_same_in_columns) reads += with("let $ = $;\n", {of_a, a(r, column)});
        if (r == 0 || !b_is_the_same_in_rows) reads += with("let $ = $;\n", {of_b, b(r, column)});
        reads += with("$ = fma($, $, $);\n", {sum, of_a, of_b, sum});
        stores += with("$ = $;\n", {c(r, column), sum});
      }
    }
    return with(
        "@compute @workgroup_size($) fn main(@builtin(local_invocation_id) local: vec3u,\n"
        "                                    @builtin(workgroup_id) id: vec3u) {\n"
        "let first = id.x * $u + local.x;\n$$$$$$\n$}",
        {lanes_, lanes_ * each_, columns, before, zeros, loops, reads, loops_end, stores});
  }

 private:
  std::int64_t height_, columns_, each_, lanes_;
};

// A copy of a matrix with its axes changed, in which a product reads rows in order.
Kernel transposed(RawDevice& gpu, std::int64_t rows, std::int64_t columns, WGPUBuffer from, WGPUBuffer to) {
  const std::string text = with(
      "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {\n"
      "if (id.x < $u) { b[id.y * $u + id.x] = a[id.x * $u + id.y]; }\n}",
      {rows, rows, columns});
  return gpu.kernel({"f32", "f32"}, text, {{from}, {to}}, word(parts(rows, 64)), word(columns));
}

}  // namespace

Work matmul_of_any_size(RawDevice& gpu, const Numbers& n) {  // batch, rows, terms, columns, form
  const std::int64_t rows = n[1], terms = n[2], columns = n[3], height = std::min<std::int64_t>(rows, 8);
  const bool turned_a = n[4] & 1, turned_b = n[4] & 2, strided = n[4] & 4;
  const std::int64_t step = strided ? 2 : 1;
  WGPUBuffer a = gpu.buffer(generated(n[0] * rows * terms * step, 1)),
             b = gpu.buffer(generated(n[0] * terms * columns, 2)),
             c = gpu.buffer(static_cast<std::size_t>(n[0] * rows * columns));
  Work work{{}, c};
  if (turned_b) {
    WGPUBuffer in_order = gpu.buffer(static_cast<std::size_t>(terms * columns));
    work.kernels.push_back(transposed(gpu, columns, terms, b, in_order));
    b = in_order;
  }
  Sums sums(height, columns);
  sums.before = with("let from_a = id.z * $u; let from_b = id.z * $u; let to = id.z * $u;\n",
                     {rows * terms * step, terms * columns, rows * columns});
  for (std::int64_t r = 0; r < height; ++r)
    sums.before += with("let row$ = min(id.y * $u + $u, $u);\n", {r, height, r, rows - 1});
  sums.loops = with("for (var k = 0u; k < $u; k++) {\n", {terms});
  sums.loops_end = "}";
  sums.a = [&](std::int64_t row, const std::string&) {
    return turned_a ? with("a[from_a + k * $u + row$]", {rows, row})
                    : with("a[from_a + row$ * $u + k * $u]", {row, terms * step, step});
  };
  sums.b = [&](std::int64_t, const std::string& column) { return with("b[from_b + k * $u + $]", {columns, column}); };
  sums.c = [&](std::int64_t row, const std::string& column) {
    return with("c[to + row$ * $u + $]", {row, columns, column});
  };
  work.kernels.push_back(gpu.kernel({"f32", "f32", "f32"}, sums.text(), {{a}, {b}, {c}}, sums.workgroups(),
                                    word(parts(rows, height)), word(n[0])));
  return work;
}

namespace {

// With same padding. The rows of its sums are pixels side by side.
struct Convolution {
  std::int64_t batch, height, width, channels, results, side, stride;
  bool is_depthwise = false;
};

Work convolution(RawDevice& gpu, const Convolution& n) {
  const std::int64_t out_height = parts(n.height, n.stride), out_width = parts(n.width, n.stride);
  const auto before = [&](std::int64_t out, std::int64_t in) {
    return std::max<std::int64_t>((out - 1) * n.stride + n.side - in, 0) / 2;
  };
  const std::int64_t pixels = std::min<std::int64_t>(out_width, 8), strips = parts(out_width, pixels);
  const std::int64_t in_filter = n.is_depthwise ? 1 : n.channels;
  WGPUBuffer x = gpu.buffer(generated(n.batch * n.height * n.width * n.channels, 1)),
             w = gpu.buffer(generated(n.side * n.side * in_filter * n.results, 2)),
             y = gpu.buffer(static_cast<std::size_t>(n.batch * out_height * out_width * n.results));
  Sums sums(pixels, n.results);
  sums.a_is_the_same_in_columns = !n.is_depthwise;
  sums.before = with("let x0 = id.y % $u * $u; let y = id.y / $u;\n", {strips, pixels, strips});
  sums.loops = with(
      "for (var ky = 0u; ky < $u; ky++) {\nlet from_y = i32(y * $u + ky) - $;\n"
      "if (from_y < 0 || from_y >= $) { continue; }\nlet line = (id.z * $u + u32(from_y)) * $u;\n"
      "for (var kx = 0u; kx < $u; kx++) {\n",
      {n.side, n.stride, before(out_height, n.height), n.height, n.height, n.width, n.side});
  for (std::int64_t r = 0; r < pixels; ++r)
    sums.loops += with(
        "let from$ = i32(min(x0 + $u, $u) * $u + kx) - $; let in$ = select(0.0, 1.0, from$ >= 0 && from$ < $);\n"
        "let at$ = (line + u32(clamp(from$, 0, $))) * $u;\n",
        {r, r, out_width - 1, n.stride, before(out_width, n.width), r, r, r, n.width, r, r, n.width - 1, n.channels});
  sums.loops += with("for (var channel = 0u; channel < $u; channel++) {\n", {in_filter});
  sums.loops_end = "} } }";
  sums.a = [&](std::int64_t row, const std::string& column) {
    return with("a[at$ + $] * in$", {row, n.is_depthwise ? column : "channel", row});
  };
  sums.b = [&](std::int64_t, const std::string& column) {
    return with("b[((ky * $u + kx) * $u + channel) * $u + $]", {n.side, in_filter, n.results, column});
  };
  sums.c = [&](std::int64_t row, const std::string& column) {
    return with("c[((id.z * $u + y) * $u + min(x0 + $u, $u)) * $u + $]",
                {out_height, out_width, row, out_width - 1, n.results, column});
  };
  return {{gpu.kernel({"f32", "f32", "f32"}, sums.text(), {{x}, {w}, {y}}, sums.workgroups(), word(strips * out_height),
                      word(n.batch))},
          y};
}

}  // namespace

Work conv_of_any_size(RawDevice& gpu, const Numbers& n) {
  return convolution(gpu, {n[0], n[1], n[2], n[3], n[4], n[5], n[6]});
}

Work depthwise_of_any_size(RawDevice& gpu, const Numbers& n) {
  return convolution(gpu, {n[0], n[1], n[2], n[3], n[3], n[4], 1, true});
}

// Columns have an invocation each, and short rows. Of long rows, the invocations of a workgroup have every 64th
// element.
Work softmax_of_any_size(RawDevice& gpu, const Numbers& n) {  // rows, columns, axis
  constexpr std::int64_t short_row = 64;
  const std::int64_t rows = n[0], columns = n[1];
  const bool is_down = n[2] == 0, is_alone = is_down || columns <= short_row;
  WGPUBuffer x = gpu.buffer(generated(rows * columns, 1, -0.5f, 8)),
             y = gpu.buffer(static_cast<std::size_t>(rows * columns));
  const std::int64_t lines = is_down ? columns : rows, count = is_down ? rows : columns;
  const std::string at = is_down ? with("k * $u + line", {columns}) : with("line * $u + k", {columns});
  const auto loop = [&](const std::string& body) {
    return with("for (var k = $; k < $u; k += $u) { let at = $; $ }\n",
                {is_alone ? "0u" : "lane", count, is_alone ? 1 : 64, at, body});
  };
  const auto shared = [&](const std::string& value, const std::string& joined) {  // over the lanes of a workgroup
    if (is_alone) return std::string();
    return with(
        "parts[lane] = $; workgroupBarrier();\n"
        "for (var step = 32u; step > 0u; step /= 2u) {\n"
        "if (lane < step) { let p = parts[lane]; let q = parts[lane + step]; parts[lane] = $; }\nworkgroupBarrier(); "
        "}\n"
        "$ = parts[0]; workgroupBarrier();\n",
        {value, joined, value});
  };
  const std::string text = with(
      "var<workgroup> parts: array<f32, 64>;\n"
      "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u,\n"
      "  @builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u) {\n"
      "let lane = local.x; let line = $;\n$var high = -3e38; var sum = 0.0;\n$$$$let factor = 1.0 / sum;\n$}",
      {is_alone ? "id.x" : "group.x", is_alone ? with("if (line >= $u) { return; }\n", {lines}) : std::string(),
       loop("high = max(high, a[at]);"), shared("high", "max(p, q)"),
       loop("let e = exp(a[at] - high); sum += e; b[at] = e;"), shared("sum", "p + q"), loop("b[at] *= factor;")});
  return {{gpu.kernel({"f32", "f32"}, text, {{x}, {y}}, word(is_alone ? parts(lines, 64) : lines))}, y};
}

}  // namespace compare
