// conv_dot4: conv_octets for 8-bit integers, with groups of image channels that are whole texels. core/kernel/window_parameters.h
// has the parameters and options.

// Four channels of the image, or zeros in the padding.
fn conv_dot4_a(at: u32, inside: bool) -> u32 { return dot4_a(select(0u, operand_0_word(at), inside)); }

fn conv_dot4(group: u32, local: u32) {
  let place: OctetPlace = octet_place(group, local);
  let columns: u32 = parameters.result_in_group;
  let quads: u32 = parameters.image_in_group / 4u;
  let pixels: u32 = word(0u) / parameters.result_channels;
  let texels: u32 = parameters.result_channels / 4u;
  let mine: vec4u = min(place.row + local % 8u + vec4u(0u, 8u, 0u, 8u), vec4u(pixels - 1u));
  let window: WindowPlace = window_place(mine * parameters.result_channels);
  var weight: u32 = (place.matrix * columns + min(place.column, columns - 4u)) / 4u;
  var upper: OctetTotals = OctetTotals();
  var lower: OctetTotals = OctetTotals();
  var rest_of_columns: vec4i = vec4i(0);
  var rest_of_rows: vec2i = vec2i(0);
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = window_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = window_along(1, window.row, h);
      for (var w: i32 = 0; w < window_taps(0); w++) {
        let column: vec4i = window_along(0, window.column, w);
        let inside: vec4<bool> = window_inside(plane, row, column);
        let image: vec4u = window_pixel(window.batch, plane, row, column) * (parameters.image_channels / 4u) + place.matrix * quads;
        for (var i: u32 = 0u; i < quads; i++) {
          let words: vec4u = dot4_b(dot4_transposed(vec4u(operand_1_word(weight), operand_1_word(weight + texels),
                                                          operand_1_word(weight + 2u * texels), operand_1_word(weight + 3u * texels))));
          let word_x: u32 = conv_dot4_a(image.x + i, inside.x);
          upper = dot4_add(upper, word_x, words);
          rest_of_columns += dot4_rest_of_columns(words);
          rest_of_rows.x += dot4_rest_of_row(word_x);
          if (options.octets == 2) {
            let word_y: u32 = conv_dot4_a(image.y + i, inside.y);
            lower = dot4_add(lower, word_y, words);
            rest_of_rows.y += dot4_rest_of_row(word_y);
          }
          weight += 4u * texels;
        }
      }
    }
  }
  upper = dot4_with_rest(upper, rest_of_columns, rest_of_rows.x);
  lower = dot4_with_rest(lower, rest_of_columns, rest_of_rows.y);
  if (group >= parameters.tiles || place.column >= columns || place.row >= pixels) { return; }
  let first_texel: u32 = (place.row * parameters.result_channels + place.matrix * columns + place.column) / 4u;
  octet_finish(upper, first_texel, texels, pixels - place.row);
  if (options.octets == 2 && place.row + 8u < pixels) {
    octet_finish(lower, first_texel + 8u * texels, texels, pixels - place.row - 8u);
  }
}
