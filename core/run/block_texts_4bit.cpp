#include "core/run/block_texts_4bit.h"

#include "core/run/block_writing.h"

namespace tessera {
namespace {

// The numbers of a group, for four columns.
std::string group_numbers(BlockText& text, const BlockGroupNumbers& numbers) {
  if (numbers.input == BlockGroupNumbers::none)
    return "vec4f(" + (is_float(numbers.dtype) ? text.number(0) : text.whole(0)) + ")";
  return "vec4f(input_" + whole_text(numbers.input) + "(vec4u(group_of_column + " + text.whole(numbers.offset) + ")))";
}

// The weight of a term of an octet in each of four columns.
std::string weights_of(int term) {
  std::string bytes;
  for (int column = 0; column < 4; ++column)
    bytes += (column ? ", pairs_" : "pairs_") + whole_text(column) + '.' + component_name(term / 2);
  return "vec4f(vec4i(" + bytes + (term % 2 == 0 ? ") & vec4i(15))" : ") >> vec4u(4u))");
}

}  // namespace

BlockText product_text(const BlockProduct4Bit& product, int height) {
  const Matmul4BitParameters& sizes = product.parameters;
  const BlockGrid grid = product.blocks(height);
  BlockText text(grid.width(), grid.height());
  begin_block(text, grid, (sizes.columns + 3) / 4);
  const GridReader a(text, 0, grid_of_rows(product.block_rows(height), product.terms(), height));
  const std::string groups = text.whole(sizes.groups), octets = text.whole(sizes.octets);
  text.body += "  let line_a: i32 = line_of_all * " + text.whole(product.terms() / 4 * height) +
               ";\n  let column: vec4i = min(vec4i(4 * in_line)" + four_from + ", vec4i(" +
               text.whole(sizes.columns - 1) + "));\n";
  const std::string first_octet = text.whole(product.weights_offset / 4);
  const std::string scale = group_numbers(text, product.scales), zero = group_numbers(text, product.zero_points);
  const BlockSums sums(text, height, 0);
  text.body +=
      "  let groups: i32 = select(0, " + groups +
      ", is_one);\n  for (var group: i32 = 0; group < groups; group++) {\n  let group_of_column: vec4i = column * " +
      groups + " + group;\n  let scale: vec4f = " + scale + ";\n  let zero: vec4f = " + zero +
      ";\n  for (var i: i32 = 0; i < " + octets + "; i++) {\n    let octet: vec4i = group_of_column * " + octets +
      " + (i + " + first_octet + ");\n";
  for (int column = 0; column < 4; ++column)
    text.body +=
        "    let pairs_" + whole_text(column) + ": vec4i = input_1_texel(u32(octet." + component_name(column) + "));\n";
  text.body += a.find("from_a", "f32(line_a + (group * " + octets + " + i) * " + whole_text(2 * height) + ")");
  for (int term = 0; term < 8; ++term) {
    const std::string quad = whole_text(term / 4);
    for (int row = 0; term % 4 == 0 && row < height; ++row)
      text.body += "    let row_" + whole_text(row) + "_" + quad + ": vec4f = input_0_at(" +
                   a.texel("from_a", term / 4 * height + row) + ");\n";
    const std::string factor = "factor_" + whole_text(term);
    text.body += "    let " + factor + ": vec4f = (" + weights_of(term) + " - zero) * scale;\n";
    for (int row = 0; row < height; ++row)
      text.body += "    " + sums.name(row) + " += row_" + whole_text(row) + "_" + quad + "." +
                   component_name(term % 4) + " * " + factor + ";\n";
  }
  text.body += "  }\n  }\n";
  return text;
}

}  // namespace tessera
