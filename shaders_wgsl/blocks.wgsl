// blocks: elements of a result that a kernel with several outputs has made in blocks. core/kernel/block_parameters.h has
// the parameters and options.

// value / divisor, where that is less than 2^20: software drivers divide integers one by one. The quotient of floats is
// wrong by one at the most.
fn block_quotient(value: vec4u, divisor: u32) -> vec4u {
  let estimate: vec4i = vec4i(vec4f(value) / f32(divisor));
  let last: i32 = i32(divisor) - 1;
  let rest: vec4i = vec4i(value) - estimate * i32(divisor);
  return vec4u(estimate + (rest >> vec4u(31u)) - ((vec4i(last) - rest) >> vec4u(31u)));
}

// The texels of four rows, each with its line, at these columns.
fn block_texels(row: vec4u, line: vec4u, column: vec4u) -> vec4u {
  let in_line: vec4u = row / u32(options.height);
  let block: vec4u = (line * parameters.below + in_line) * ((parameters.columns + 3u) / 4u) + column -
                     parameters.first;
  let y: vec4u = block >> vec4u(parameters.width_bits);
  let x: vec4u = block - (y << vec4u(parameters.width_bits));
  return x + (y << vec4u(14u)) + ((row % u32(options.height)) << vec4u(28u));
}

fn block_elements(element: vec4u) -> core_vector {
  let columns: u32 = parameters.columns;
  let line_of_rows: vec4u = block_quotient(element, columns);
  let column: vec4u = element - line_of_rows * columns;
  var line: vec4u = vec4u(0u);
  if (options.is_one_line == 0) { line = block_quotient(line_of_rows, parameters.rows); }
  let at: vec4u = block_texels(line_of_rows - line * parameters.rows, line, column / 4u);
  if (options.whole_texels == 1) { return operand_0_texel(at.x); }
  let first: core_vector = operand_0_texel(at.x);
  let second: core_vector = operand_0_texel(at.y);
  let third: core_vector = operand_0_texel(at.z);
  let fourth: core_vector = operand_0_texel(at.w);
  return core_vector(first[column.x % 4u], second[column.y % 4u], third[column.z % 4u], fourth[column.w % 4u]);
}
