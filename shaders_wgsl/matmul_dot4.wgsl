// matmul_dot4: matmul_octets for 8-bit integers, whose rows of a are texels along the sum, and whose b has texels along the
// result or the sum. core/kernel/matmul_parameters.h has the parameters and options.

// The distance of a matrix from the first one of an operand.
fn matmul_dot4_matrix(matrix: u32, operand: u32) -> u32 {
  var rest: u32 = matrix;
  var at: u32 = 0u;
  for (var i: i32 = 2; i < options.kept_axes; i++) {
    let size: u32 = parameters.axes[i].size;
    at += (rest % size) * parameters.axes[i].distances[operand];
    rest = rest / size;
  }
  return at;
}

// The texels of a word's four terms in four columns; `at` are the columns' texels, or their first rows.
fn matmul_dot4_b(at: vec4u, step: u32) -> vec4u {
  if (options.from_b == 2) { return vec4u(operand_1_word(at.x), operand_1_word(at.y), operand_1_word(at.z), operand_1_word(at.w)); }
  return dot4_transposed(vec4u(operand_1_word(at.x), operand_1_word(at.x + step), operand_1_word(at.x + 2u * step),
                               operand_1_word(at.x + 3u * step)));
}

fn matmul_dot4(group: u32, local: u32) {
  let place: OctetPlace = octet_place(group, local);
  let columns: u32 = parameters.axes[0].size;
  let rows: u32 = parameters.axes[1].size;
  let step: u32 = parameters.axes[options.kept_axes].distances[1] / 4u;  // of texels along the result
  let first_a: u32 = matmul_dot4_matrix(place.matrix, 0u);
  let row_a: u32 = parameters.axes[1].distances[0];
  let x: u32 = (first_a + min(place.row + local % 8u, rows - 1u) * row_a) / 4u;
  let y: u32 = (first_a + min(place.row + 8u + local % 8u, rows - 1u) * row_a) / 4u;
  let b: vec4u = (matmul_dot4_matrix(place.matrix, 1u) +
                  (min(place.column, columns - 4u) + vec4u(0u, 1u, 2u, 3u)) * parameters.axes[0].distances[1]) / 4u;
  let step_b: u32 = select(4u * step, 1u, options.from_b == 2);  // for four terms
  var upper: OctetTotals = OctetTotals();
  var lower: OctetTotals = OctetTotals();
  var rest_of_columns: vec4i = vec4i(0);
  var rest_of_rows: vec2i = vec2i(0);
  let quads: u32 = parameters.count / 4u;
  for (var i: u32 = 0u; i < quads; i++) {
    let words: vec4u = dot4_b(matmul_dot4_b(b + i * step_b, step));
    let word_x: u32 = dot4_a(operand_0_word(x + i));
    upper = dot4_add(upper, word_x, words);
    rest_of_columns += dot4_rest_of_columns(words);
    rest_of_rows.x += dot4_rest_of_row(word_x);
    if (options.octets == 2) {
      let word_y: u32 = dot4_a(operand_0_word(y + i));
      lower = dot4_add(lower, word_y, words);
      rest_of_rows.y += dot4_rest_of_row(word_y);
    }
  }
  upper = dot4_with_rest(upper, rest_of_columns, rest_of_rows.x);
  lower = dot4_with_rest(lower, rest_of_columns, rest_of_rows.y);
  if (group >= parameters.tiles || place.column >= columns || place.row >= rows) { return; }
  let first_texel: u32 = ((place.matrix * rows + place.row) * columns + place.column) / 4u;
  octet_finish(upper, first_texel, columns / 4u, rows - place.row);
  if (options.octets == 2 && place.row + 8u < rows) {
    octet_finish(lower, first_texel + 2u * columns, columns / 4u, rows - place.row - 8u);
  }
}
