#include "core/run/block_texts.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "core/run/block_writing.h"

namespace tessera {
namespace {

std::int64_t elements_of_axes(std::span<const BlockAxis> axes) {
  return std::accumulate(axes.begin(), axes.end(), std::int64_t{1},
                         [](std::int64_t elements, const BlockAxis& axis) { return elements * axis.size; });
}

bool is_multiple_of_4(std::span<const BlockAxis> axes) {
  return std::ranges::all_of(axes, [](const BlockAxis& axis) { return axis.distance % 4 == 0; });
}

// Adds to `at` the distance of element `index` along the axes. Both are of the type.
void add_distance(BlockText& text, std::span<const BlockAxis> axes, const std::string& index, const std::string& type) {
  if (axes.size() == 1) {
    text.body += "  at += " + type + "(" + index + ") * " + text.whole(axes[0].distance) + ";\n";
    return;
  }
  if (axes.empty()) return;
  const std::string rest = "rest_of_" + index;
  text.body += "  var " + rest + ": " + type + " = " + index + ";\n";
  for (const BlockAxis& axis : axes) {
    const std::string size = text.whole(axis.size);
    text.body += "  at += (" + rest + " % " + size + ") * " + text.whole(axis.distance) + ";\n";
    text.body += "  " + rest + " = " + rest + " / " + size + ";\n";
  }
}

// Whether a matrix has elements again and again.
bool has_repeats(const MatrixOperand& matrix) {
  const auto repeats = [](const BlockAxis& axis) { return axis.distance == 0 && axis.size > 1; };
  return repeats(matrix.kept) || std::ranges::any_of(matrix.summed, repeats) ||
         (matrix.matrices() > 1 && std::ranges::any_of(matrix.batch, repeats));
}

// `texel`: the elements of input 0 at `at`, of which the first `valid` are there, and zeros.
void read_four(BlockText& text, bool is_texel, const std::string& valid, bool repeats = false) {
  if (is_texel) {
    text.body += "  let has_elements: bool = " + valid + " > 0;\n";
    if (!repeats) text.place = text.body;
    text.body += "  let texel: vec4f = select(vec4f(0.0), vec4f(input_0_texel(u32(at.x) / 4u)), has_elements);\n";
    return;
  }
  text.body += "  let four: vec4f = vec4f(input_0(vec4u(at)));\n  let valid: i32 = " + valid +
               ";\n  let texel: vec4f = vec4f(select(0.0, four.x, valid > 0), select(0.0, four.y, valid > 1), "
               "select(0.0, four.z, valid > 2), select(0.0, four.w, valid > 3));\n";
}

// Finds the matrix and the row of texels in it that a row of all stands for.
void find_matrix(BlockText& text, std::int64_t matrices, std::int64_t rows_of_matrix, const std::string& row = "y") {
  if (matrices == 1) {
    text.body += "  let matrix: i32 = 0;\n  let line: i32 = " + row + ";\n";
    return;
  }
  const std::string rows = text.whole(rows_of_matrix);
  text.body += "  let matrix: i32 = " + row + " / " + rows + ";\n  let line: i32 = " + row + " % " + rows + ";\n";
}

}  // namespace

std::string BlockText::whole(std::int64_t value) {
  words.push_back(word_of(value));
  return "$i" + std::to_string(words.size() - 1) + '$';
}

std::string BlockText::number(float value) {
  words.push_back(std::bit_cast<std::uint32_t>(value));
  return "$f" + std::to_string(words.size() - 1) + '$';
}

std::string with_words(const std::string& text, std::size_t first_word) {
  std::string written;
  std::size_t at = 0;
  for (std::size_t mark; (mark = text.find('$', at)) != std::string::npos;) {
    const std::size_t end = text.find('$', mark + 1);
    const std::size_t word = first_word + std::stoul(text.substr(mark + 2, end - mark - 2));
    written.append(text, at, mark - at);
    written += (text[mark + 1] == 'f' ? "floats_of_words(" : "ints_of_words(") + std::to_string(word / 4) + ")." +
               component_name(static_cast<int>(word % 4));
    at = end + 1;
  }
  return written.append(text, at);
}

void BlockText::sizes(std::int64_t width, std::int64_t height) { words = {word_of(width), word_of(height)}; }

std::int64_t MatrixOperand::terms() const { return elements_of_axes(summed); }

std::int64_t MatrixOperand::matrices() const {
  const bool is_one = std::ranges::all_of(batch, [](const BlockAxis& axis) { return axis.distance == 0; });
  return is_one ? 1 : elements_of_axes(batch);
}

bool MatrixOperand::has_texels_of_columns() const {
  return kept.distance == 1 && kept.size % 4 == 0 && offset % 4 == 0 && matrices() == 1 && summed.size() == 1 &&
         summed[0].distance % 4 == 0 && terms() % 4 == 0;
}

// Rows are wide, such that drivers which share out tiles of a framebuffer have some for each core. There are two rows
// at least, if possible: drivers work on four fragments at a time. No texture is more than four times as high as wide.
BlockGrid::BlockGrid(std::int64_t all, int usual_bits, int least_bits) : count(all), width_bits(least_bits) {
  while (width_bits < usual_bits && std::int64_t{4} << width_bits <= count) ++width_bits;
  while (height() > 4 * width()) ++width_bits;
}

namespace {

// Most textures of elements are as wide, and can take turns with layouts.
constexpr int layout_bits = 8;

}  // namespace

BlockGrid grid_of_rows(std::int64_t blocks, std::int64_t terms, int height) {
  return {blocks * height * (whole_quads(terms) / 4), layout_bits,
          static_cast<int>(std::bit_width(static_cast<unsigned>(height)))};
}

namespace {

void begin_line(BlockText& text, const BlockGrid& grid, std::int64_t in_line, const std::string& number) {
  const std::string size = text.whole(in_line);
  text.body += "  let number: i32 = y * " + text.whole(grid.width()) + " + " + number +
               ";\n  let is_one: bool = number < " + text.whole(grid.count) + ";\n  let line_of_all: i32 = number / " +
               size + ";\n  let in_line: i32 = number - line_of_all * " + size + ";\n";
}

}  // namespace

void begin_line(BlockText& text, const BlockGrid& grid, std::int64_t in_line) { begin_line(text, grid, in_line, "x"); }

void begin_block(BlockText& text, const BlockGrid& grid, std::int64_t in_line) {
  const std::string first = text.whole(0);  // see word_of_first_block
  begin_line(text, grid, in_line, "x + " + first);
}

GridReader::GridReader(BlockText& text, std::size_t input, const BlockGrid& grid)
    : width_(text.number(static_cast<float>(grid.width()))),
      rows_of_texel_(text.number(1 / static_cast<float>(grid.width()))),
      step_x_(step_across(text, input, grid.width())),
      step_y_(step_down(text, input, grid.height())) {}

std::string GridReader::find(const std::string& name, const std::string& number) const {
  return "    let " + name + ": f32 = " + number + ";\n    let row_of_" + name + ": f32 = floor(" + name + " * " +
         rows_of_texel_ + ");\n    let y_of_" + name + ": f32 = " + middle_of("row_of_" + name, step_y_) +
         ";\n    let x_of_" + name + ": f32 = " + name + " - row_of_" + name + " * " + width_ + " + 0.5;\n";
}

std::string GridReader::texel(const std::string& name, std::int64_t after) const {
  return "vec2f((x_of_" + name + " + " + float_text(after) + ") * " + step_x_ + ", y_of_" + name + ")";
}

BlockText layout_of_rows(const MatrixOperand& a, int height) {
  const std::int64_t blocks = (a.kept.size + height - 1) / height, terms = a.terms(), matrices = a.matrices();
  const BlockGrid grid = grid_of_rows(blocks * matrices, terms, height);
  BlockText text(grid.width(), grid.height());
  begin_line(text, grid, whole_quads(terms) / 4 * height);
  const bool is_texel = a.summed.size() == 1 && a.summed[0].distance == 1 && terms % 4 == 0 && a.offset % 4 == 0 &&
                        a.kept.distance % 4 == 0 && (matrices == 1 || is_multiple_of_4(a.batch));
  find_matrix(text, matrices, blocks, "line_of_all");
  const std::string count = text.whole(terms);
  // Rows past the end have zeros.
  text.body += "  let first: i32 = in_line / " + whole_text(height) + " * 4;\n  let in_block: i32 = line * " +
               whole_text(height) + " + in_line % " + whole_text(height) + ";\n  let row: i32 = min(in_block, " +
               text.whole(a.kept.size - 1) + ");\n  let start: i32 = " + text.whole(a.offset) + " + row * " +
               text.whole(a.kept.distance) + ";\n  let k: vec4i = min(vec4i(first)" + four_from + ", vec4i(" + count +
               " - 1));\n  var at: vec4i = vec4i(start);\n";
  add_distance(text, a.summed, "k", "vec4i");
  if (matrices > 1) {
    text.body += "  let matrices: vec4i = vec4i(matrix);\n";
    add_distance(text, a.batch, "matrices", "vec4i");
  }
  read_four(text, is_texel, "select(0, " + count + " - first, is_one && row == in_block)", has_repeats(a));
  const bool is_in_order = a.offset == 0 && matrices == 1 && a.batch.empty() && a.summed.size() == 1 &&
                           a.summed[0].distance == 1 && a.kept.distance == terms;
  if (is_in_order) text.line_elements = height * terms;
  return text;
}

BlockText layout_of_columns(const MatrixOperand& b) {
  const std::int64_t terms = b.terms(), matrices = b.matrices(), texels = (b.kept.size + 3) / 4;
  BlockText text(whole_quads(terms), texels * matrices);
  const bool is_texel = b.kept.distance == 1 && b.kept.size % 4 == 0 && b.offset % 4 == 0 &&
                        is_multiple_of_4(b.summed) && (matrices == 1 || is_multiple_of_4(b.batch));
  find_matrix(text, matrices, texels);
  const std::string count = text.whole(terms);
  text.body += "  let column: vec4i = min(vec4i(4 * line)" + std::string(four_from) + ", vec4i(" +
               text.whole(b.kept.size - 1) + "));\n  let k: vec4i = vec4i(min(x, " + count +
               " - 1));\n  var at: vec4i = vec4i(" + text.whole(b.offset) + ") + column * " +
               text.whole(b.kept.distance) + ";\n";
  add_distance(text, b.summed, "k", "vec4i");
  if (matrices > 1) {
    text.body += "  let matrices: vec4i = vec4i(matrix);\n";
    add_distance(text, b.batch, "matrices", "vec4i");
  }
  read_four(text, is_texel, "4 * (" + count + " - x)", has_repeats(b));
  return text;
}

namespace {

// `place_b`: the texel of b that the first term reads, of which the column and the row go on with each term.
void begin_b_in_place(BlockText& text, const BlockProduct::PlaceOfB& b) {
  text.body += "  let size_b: vec2f = input_1_size();\n  let scale_b: vec2f = vec2f(1.0) / size_b;\n";
  text.body += "  let step_b: vec2f = input_1_place(" + text.whole(b.step) +
               ");\n  var place_b: vec2f = input_1_place(" + text.whole(b.first) + " + column) + vec2f(0.5);\n";
}
std::string next_of_b_in_place() {
  return "    place_b += step_b;\n    place_b += select(vec2f(0.0), vec2f(-size_b.x, 1.0), place_b.x > size_b.x);\n";
}

// `line_b`: the row of the texels of b in the layout of layout_of_columns().
void begin_b_in_lines(BlockText& text, const BlockProduct& product, std::int64_t texels) {
  const bool has_matrices = product.matrices > 1 && product.has_matrices_of_b;
  const std::string column = has_matrices ? "f32(column + matrix * " + text.whole(texels) + ")" : "f32(column)";
  const std::string step = step_down(text, 1, texels * (has_matrices ? product.matrices : 1));
  text.body += "  let line_b: f32 = " + middle_of(column, step) +
               ";\n  let step_b: f32 = " + step_across(text, 1, whole_quads(product.terms)) + ";\n";
}

}  // namespace

BlockText product_text(const BlockProduct& product, int height, std::int64_t exact_terms) {
  const std::int64_t blocks = product.block_rows(height), texels = product.texels();
  const BlockGrid grid = product.blocks(height);
  BlockText text(grid.width(), grid.height());
  begin_block(text, grid, texels);
  text.body += "  let column: i32 = in_line;\n";
  find_matrix(text, product.matrices, blocks, "line_of_all");
  const bool shares_a = product.matrices > 1 && !product.has_matrices_of_a;
  const std::int64_t lines_a = blocks * (product.has_matrices_of_a ? product.matrices : 1);
  const GridReader a(text, 0, grid_of_rows(lines_a, product.terms, height));
  text.body += "  let line_a: i32 = " + std::string(shares_a ? "line" : "line_of_all") + " * " +
               text.whole(whole_quads(product.terms) / 4 * height) + ";\n";
  if (product.b_in_place) begin_b_in_place(text, *product.b_in_place);
  else begin_b_in_lines(text, product, texels);
  BlockSums sums(text, height, exact_terms);
  text.body += "  let quads: i32 = select(0, " + text.whole(whole_quads(product.terms) / 4) + ", is_one);\n";
  sums.begin_loop("k", "quads", exact_terms / 4);
  text.body += a.find("from_a", "f32(line_a + k * " + whole_text(height) + ")");
  for (int row = 0; row < height; ++row)
    text.body += "    let row_" + whole_text(row) + ": vec4f = input_0_at(" + a.texel("from_a", row) + ");\n";
  for (int term = 0; term < 4; ++term) {
    const std::string factor = "factor_" + whole_text(term);
    const std::string place = product.b_in_place
                                  ? "place_b * scale_b"
                                  : "vec2f((f32(k * 4) + " + float_text(term) + " + 0.5) * step_b, line_b)";
    text.body += "    let " + factor + ": vec4f = input_1_at(" + place + ");\n";
    if (product.b_in_place) text.body += next_of_b_in_place();
    for (int row = 0; row < height; ++row)
      text.body +=
          "    " + sums.name(row) + " += row_" + whole_text(row) + "." + component_name(term) + " * " + factor + ";\n";
  }
  sums.end_loop(exact_terms / 4);
  return text;
}

std::int64_t BlockConvolution::padded_width(int height) const {
  return (strips(height) * height - 1) * across().stride + across().reach();
}

std::vector<std::int64_t> BlockConvolution::pixels_of_block(int height) const {
  std::vector<std::int64_t> pixels;
  for (std::int64_t row = 0; row < height; ++row)
    for (std::int64_t tap = 0; tap < (unrolls() ? std::int64_t{across().taps} : 1); ++tap)
      pixels.push_back(row * across().stride + tap * across().dilation);
  std::ranges::sort(pixels);
  pixels.erase(std::unique(pixels.begin(), pixels.end()), pixels.end());
  return pixels;
}

BlockGrid BlockConvolution::image_grid(int height) const {
  return {images * down().image * padded_width(height) * image_texels(), layout_bits};
}

BlockText layout_of_image(const BlockConvolution& conv, std::int64_t offset, int height) {
  const std::int64_t texels = conv.image_texels(), channels = conv.parameters.image_channels;
  const BlockGrid grid = conv.image_grid(height);
  BlockText text(grid.width(), grid.height());
  begin_line(text, grid, conv.padded_width(height) * texels);
  const std::string width = text.whole(conv.across().image), texel_count = text.whole(texels),
                    channel_count = text.whole(channels);
  text.body += "  let padded: i32 = in_line / " + texel_count + ";\n  let channel: i32 = 4 * (in_line - padded * " +
               texel_count + ");\n  let column: i32 = padded - " + text.whole(conv.across().before) +
               ";\n  let inside: bool = is_one && column >= 0 && column < " + width +
               ";\n  let pixel: i32 = select(0, line_of_all * " + width +
               " + column, inside);\n  let at: vec4i = vec4i(" + text.whole(offset) + " + pixel * " + channel_count +
               ") + min(vec4i(channel)" + four_from + ", vec4i(" + channel_count + " - 1));\n";
  read_four(text, channels % 4 == 0 && offset % 4 == 0, "select(0, " + channel_count + " - channel, inside)");
  if (offset == 0) text.line_elements = conv.across().image * channels;
  return text;
}

BlockText layout_of_filter(const BlockConvolution& conv, std::int64_t offset) {
  const std::int64_t taps = conv.across().taps * conv.down().taps, results = conv.parameters.result_channels;
  const std::int64_t channels = conv.is_depthwise ? 1 : std::int64_t{conv.parameters.image_in_group};
  const std::int64_t padded_channels = conv.is_depthwise ? 1 : whole_quads(channels);
  BlockText text(taps * padded_channels, conv.result_texels());
  const std::string result_count = text.whole(results);
  text.body +=
      "  let result: vec4i = min(vec4i(4 * y)" + std::string(four_from) + ", vec4i(" + result_count + " - 1));\n";
  if (conv.is_depthwise) {
    text.body += "  let channel: i32 = 0;\n  let weight: i32 = x;\n";
  } else {
    const std::string padded_count = text.whole(padded_channels);
    text.body += "  let tap: i32 = x / " + padded_count + ";\n  let channel: i32 = x - tap * " + padded_count +
                 ";\n  let weight: i32 = tap * " + text.whole(channels) + " + channel;\n";
  }
  const std::string inside = "channel < " + text.whole(channels);
  text.body += "  let at: vec4i = vec4i(" + text.whole(offset) + " + select(0, weight, " + inside + ") * " +
               result_count + ") + result;\n";
  read_four(text, results % 4 == 0 && offset % 4 == 0, "select(0, 4, " + inside + ")");
  return text;
}

namespace {

// `row`: that of the first tap in all images; `first_tap`, `taps_end`: those whose rows are in the image of the block.
void find_taps_down(BlockText& text, const WindowAxis& down) {
  const std::string rows = text.whole(down.image);
  text.body += "  let top: i32 = line * " + text.whole(down.stride) + " - " + text.whole(down.before) +
               ";\n  let row: i32 = matrix * " + rows + " + top;\n";
  std::string above = "-top", below = rows + " - top";
  if (down.dilation > 1) {
    const std::string dilation = text.whole(down.dilation);
    above = "(" + dilation + " - 1 - top) / " + dilation;
    below = "(" + rows + " - top + " + dilation + " - 1) / " + dilation;
  }
  text.body += "  let first_tap: i32 = max(0, " + above + ");\n  let taps_end: i32 = select(0, min(" +
               text.whole(down.taps) + ", " + below + "), is_one);\n";
}

}  // namespace

BlockText convolution_text(const BlockConvolution& conv, int height, std::int64_t exact_terms) {
  const std::int64_t image_texels = conv.image_texels(), result_texels = conv.result_texels();
  const std::int64_t taps = conv.across().taps, group_texels = conv.is_depthwise ? 1 : conv.group_texels();
  const std::int64_t groups = conv.parameters.result_channels / conv.parameters.result_in_group;
  const BlockGrid grid = conv.blocks(height);
  BlockText text(grid.width(), grid.height());
  begin_block(text, grid, conv.strips(height) * result_texels);
  const GridReader image(text, 0, conv.image_grid(height));
  const std::string image_line = text.whole(conv.padded_width(height) * image_texels),
                    pixel = text.number(static_cast<float>(image_texels)),
                    weights = text.whole(conv.is_depthwise ? 1 : 4 * group_texels),
                    step_weight =
                        step_across(text, 1, taps * conv.down().taps * (conv.is_depthwise ? 1 : 4 * group_texels)),
                    taps_across = text.whole(taps), texel_count = text.whole(result_texels);
  find_matrix(text, conv.images, conv.down().result, "line_of_all");
  text.body +=
      "  let strip: i32 = in_line / " + texel_count + ";\n  let texel: i32 = in_line - strip * " + texel_count + ";\n";
  find_taps_down(text, conv.down());
  std::string channel = "0";
  if (conv.is_depthwise) channel = "texel";
  else if (groups > 1)
    channel = "texel / " + text.whole(conv.parameters.result_in_group / 4) + " * " + text.whole(group_texels);
  text.body += "  let start: i32 = strip * " + text.whole(height * conv.across().stride * image_texels) + " + " +
               channel +
               ";\n  let line_of_weights: f32 = " + middle_of("f32(texel)", step_down(text, 1, result_texels)) + ";\n";
  BlockSums sums(text, height, exact_terms);
  const std::int64_t terms_of_row = taps * (conv.is_depthwise ? 1 : 4 * group_texels);
  // Parts of all of a window, of each of its rows, or of some channels at a time.
  const bool in_one_part = terms_of_row * conv.down().taps <= exact_terms, in_rows = !in_one_part && conv.is_depthwise;
  const std::int64_t channels_of_part =
      in_one_part || in_rows ? 0 : exact_terms / (4 * (conv.unrolls() ? taps : std::int64_t{1}));
  if (in_one_part) sums.begin_parts();
  text.body += "  for (var h: i32 = first_tap; h < taps_end; h++) {\n    let line_of_image: i32 = (row + h * " +
               text.whole(conv.down().dilation) + ") * " + image_line + ";\n";
  if (in_rows) sums.begin_parts();
  if (!conv.unrolls()) text.body += "  for (var w: i32 = 0; w < " + taps_across + "; w++) {\n";
  if (!conv.is_depthwise) sums.begin_loop("c", text.whole(group_texels), channels_of_part);
  const std::string c = conv.is_depthwise ? "" : " + c", c4 = conv.is_depthwise ? "" : " + 4 * c";
  const std::string w = conv.unrolls() ? "" : " + w";
  const std::string moved = conv.unrolls() ? "" : " + w * " + text.whole(conv.across().dilation * image_texels);
  text.body += "    let from_image: f32 = f32(line_of_image + start" + c + moved + ");\n";
  text.body += "    let from_weight: f32 = f32((h * " + taps_across + w + ") * " + weights + c4 + ") + 0.5;\n";
  for (const std::int64_t at : conv.pixels_of_block(height)) {
    const std::string place = "place_" + whole_text(at);
    text.body += image.find(place, "from_image + " + float_text(at) + " * " + pixel) + "    let pixel_" +
                 whole_text(at) + ": vec4f = input_0_at(" + image.texel(place, 0) + ");\n";
  }
  for (std::int64_t tap = 0; tap < (conv.unrolls() ? taps : 1); ++tap)
    for (int term = 0; term < (conv.is_depthwise ? 1 : 4); ++term) {
      const std::string factor = "factor_" + whole_text(4 * tap + term);
      text.body += "    let " + factor + ": vec4f = input_1_at(vec2f((from_weight + f32(" + whole_text(tap) + " * " +
                   weights + " + " + whole_text(term) + ")) * " + step_weight + ", line_of_weights));\n";
      for (std::int64_t pixel_of = 0; pixel_of < height; ++pixel_of) {
        const std::int64_t at = pixel_of * conv.across().stride + tap * conv.across().dilation;
        text.body += "    " + sums.name(pixel_of) + " += pixel_" + whole_text(at) +
                     (conv.is_depthwise ? std::string() : std::string(".") + component_name(term)) + " * " + factor +
                     ";\n";
      }
    }
  if (!conv.is_depthwise) sums.end_loop(channels_of_part);
  if (!conv.unrolls()) text.body += "  }\n";
  if (in_rows) sums.end_parts();
  text.body += "  }\n";
  if (in_one_part) sums.end_parts();
  return text;
}

}  // namespace tessera
