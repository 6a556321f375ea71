// concat: rows made of a piece of each operand. core/kernel/gather_parameters.h has the parameters and
// options.

// The places of four elements, counted from the start of operand k's piece: inside if neither below 0 nor past its end.
fn concat_at(k: u32, element: vec4u) -> vec4i {
  return vec4i(element % parameters.row_size) - vec4i(parameters.pieces[k].start);
}

fn concat_has(k: u32, element: vec4u) -> vec4<bool> {
  let at: vec4i = concat_at(k, element);
  return both(gti(at, vec4i(-1)), lti(at, vec4i(parameters.pieces[k].size)));
}

// The elements' places in operand k; the nearest ones of the same row where it has none.
fn concat_place(k: u32, element: vec4u) -> vec4u {
  let size: i32 = parameters.pieces[k].size;
  let first: vec4u = (element / parameters.row_size) * u32(size);
  return first + vec4u(clamp(concat_at(k, element), vec4i(0), vec4i(size - 1)));
}

fn concat_piece_0(element: vec4u) -> core_vector {
  if (options.reads_texels == 1) { return operand_0_texel(concat_place(0u, element).x / 4u); }
  return operand_0(concat_place(0u, element));
}

fn concat_piece_1(element: vec4u) -> core_vector {
  if (options.reads_texels == 1) { return operand_1_texel(concat_place(1u, element).x / 4u); }
  return operand_1(concat_place(1u, element));
}

fn concat_2(element: vec4u) -> core_vector {
  let mine: vec4<bool> = concat_has(1u, element);
  var value: core_vector = core_vector(0);
  if (!all(mine)) { value = concat_piece_0(element); }
  if (any(mine)) { value = core_pick(mine, concat_piece_1(element), value); }
  return value;
}

fn concat_piece_2(element: vec4u) -> core_vector {
  if (options.reads_texels == 1) { return operand_2_texel(concat_place(2u, element).x / 4u); }
  return operand_2(concat_place(2u, element));
}

fn concat_3(element: vec4u) -> core_vector {
  let mine: vec4<bool> = concat_has(2u, element);
  var value: core_vector = core_vector(0);
  if (!all(mine)) { value = concat_2(element); }
  if (any(mine)) { value = core_pick(mine, concat_piece_2(element), value); }
  return value;
}

fn concat_piece_3(element: vec4u) -> core_vector {
  if (options.reads_texels == 1) { return operand_3_texel(concat_place(3u, element).x / 4u); }
  return operand_3(concat_place(3u, element));
}

fn concat_4(element: vec4u) -> core_vector {
  let mine: vec4<bool> = concat_has(3u, element);
  var value: core_vector = core_vector(0);
  if (!all(mine)) { value = concat_3(element); }
  if (any(mine)) { value = core_pick(mine, concat_piece_3(element), value); }
  return value;
}

fn concat_piece_4(element: vec4u) -> core_vector {
  if (options.reads_texels == 1) { return operand_4_texel(concat_place(4u, element).x / 4u); }
  return operand_4(concat_place(4u, element));
}

fn concat_5(element: vec4u) -> core_vector {
  let mine: vec4<bool> = concat_has(4u, element);
  var value: core_vector = core_vector(0);
  if (!all(mine)) { value = concat_4(element); }
  if (any(mine)) { value = core_pick(mine, concat_piece_4(element), value); }
  return value;
}

fn concat_piece_5(element: vec4u) -> core_vector {
  if (options.reads_texels == 1) { return operand_5_texel(concat_place(5u, element).x / 4u); }
  return operand_5(concat_place(5u, element));
}

fn concat_6(element: vec4u) -> core_vector {
  let mine: vec4<bool> = concat_has(5u, element);
  var value: core_vector = core_vector(0);
  if (!all(mine)) { value = concat_5(element); }
  if (any(mine)) { value = core_pick(mine, concat_piece_5(element), value); }
  return value;
}

fn concat_piece_6(element: vec4u) -> core_vector {
  if (options.reads_texels == 1) { return operand_6_texel(concat_place(6u, element).x / 4u); }
  return operand_6(concat_place(6u, element));
}

fn concat_7(element: vec4u) -> core_vector {
  let mine: vec4<bool> = concat_has(6u, element);
  var value: core_vector = core_vector(0);
  if (!all(mine)) { value = concat_6(element); }
  if (any(mine)) { value = core_pick(mine, concat_piece_6(element), value); }
  return value;
}
