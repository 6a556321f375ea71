// concat: rows made of a piece of each operand. core/ops/concat.cpp defines the words and options.

// Where four elements lie from the start of operand k's piece: inside of it if neither below 0 nor past its end.
ivec4 concat_at(uint k, uvec4 element) {
  return ivec4(element % core_word(0u)) - ivec4(int(core_word(1u + 2u * k)));
}

bvec4 concat_has(uint k, uvec4 element) {
  ivec4 at = concat_at(k, element);
  return both(gti(at, ivec4(-1)), lti(at, ivec4(int(core_word(2u + 2u * k)))));
}

// The elements of operand k; the nearest ones of the same row where it has none.
uvec4 concat_place(uint k, uvec4 element) {
  uint piece = core_word(2u + 2u * k);
  return (element / core_word(0u)) * piece + uvec4(clamp(concat_at(k, element), ivec4(0), ivec4(int(piece) - 1)));
}

core_vector concat_piece_0(uvec4 element) {
  if (option_0 == 1) { return operand_0_texel(concat_place(0u, element).x / 4u); }
  return operand_0(concat_place(0u, element));
}

core_vector concat_piece_1(uvec4 element) {
  if (option_0 == 1) { return operand_1_texel(concat_place(1u, element).x / 4u); }
  return operand_1(concat_place(1u, element));
}

core_vector concat_2(uvec4 element) {
  bvec4 mine = concat_has(1u, element);
  core_vector value = core_vector(0);
  if (!all(mine)) { value = concat_piece_0(element); }
  if (any(mine)) { value = core_pick(mine, concat_piece_1(element), value); }
  return value;
}

core_vector concat_piece_2(uvec4 element) {
  if (option_0 == 1) { return operand_2_texel(concat_place(2u, element).x / 4u); }
  return operand_2(concat_place(2u, element));
}

core_vector concat_3(uvec4 element) {
  bvec4 mine = concat_has(2u, element);
  core_vector value = core_vector(0);
  if (!all(mine)) { value = concat_2(element); }
  if (any(mine)) { value = core_pick(mine, concat_piece_2(element), value); }
  return value;
}

core_vector concat_piece_3(uvec4 element) {
  if (option_0 == 1) { return operand_3_texel(concat_place(3u, element).x / 4u); }
  return operand_3(concat_place(3u, element));
}

core_vector concat_4(uvec4 element) {
  bvec4 mine = concat_has(3u, element);
  core_vector value = core_vector(0);
  if (!all(mine)) { value = concat_3(element); }
  if (any(mine)) { value = core_pick(mine, concat_piece_3(element), value); }
  return value;
}

core_vector concat_piece_4(uvec4 element) {
  if (option_0 == 1) { return operand_4_texel(concat_place(4u, element).x / 4u); }
  return operand_4(concat_place(4u, element));
}

core_vector concat_5(uvec4 element) {
  bvec4 mine = concat_has(4u, element);
  core_vector value = core_vector(0);
  if (!all(mine)) { value = concat_4(element); }
  if (any(mine)) { value = core_pick(mine, concat_piece_4(element), value); }
  return value;
}

core_vector concat_piece_5(uvec4 element) {
  if (option_0 == 1) { return operand_5_texel(concat_place(5u, element).x / 4u); }
  return operand_5(concat_place(5u, element));
}

core_vector concat_6(uvec4 element) {
  bvec4 mine = concat_has(5u, element);
  core_vector value = core_vector(0);
  if (!all(mine)) { value = concat_5(element); }
  if (any(mine)) { value = core_pick(mine, concat_piece_5(element), value); }
  return value;
}

core_vector concat_piece_6(uvec4 element) {
  if (option_0 == 1) { return operand_6_texel(concat_place(6u, element).x / 4u); }
  return operand_6(concat_place(6u, element));
}

core_vector concat_7(uvec4 element) {
  bvec4 mine = concat_has(6u, element);
  core_vector value = core_vector(0);
  if (!all(mine)) { value = concat_6(element); }
  if (any(mine)) { value = core_pick(mine, concat_piece_6(element), value); }
  return value;
}
