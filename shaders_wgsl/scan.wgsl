// scan: running sums and products along an axis. core/kernel/scan_parameters.h has the parameters and options.

// The position of an element along the axis, counted in the direction of the scan.
fn scan_position(element: vec4u) -> vec4u {
  let along: vec4u = (element / parameters.inner) % parameters.count;
  if (parameters.is_reverse == 1u) { return vec4u(parameters.count - 1u) - along; }
  return along;
}

// Elements from one position to the next; backwards the number wraps around.
fn scan_stride() -> u32 {
  if (parameters.is_reverse == 1u) { return 0u - parameters.inner; }
  return parameters.inner;
}

// The place of an element's block in the operand with the totals of blocks.
fn scan_block(element: vec4u) -> vec4u {
  let inner: u32 = parameters.inner;
  let row: vec4u = element / (parameters.count * inner);
  return (row * parameters.blocks + scan_position(element) / parameters.block_length) * inner + element % inner;
}

fn scan_combine(a: core_vector, b: core_vector) -> core_vector {
  if (options.is_product == 1) { return a * b; }
  return a + b;
}

// Brings the four elements of a texel into the direction of the scan.
fn scan_in_direction(a: core_vector) -> core_vector {
  if (parameters.is_reverse == 1u) { return a.wzyx; }
  return a;
}

// The texel's elements lie along the axis: the texels before it in its block, then its own elements.
fn scan_along(element: vec4u) -> core_vector {
  let start: core_vector = core_vector(vec4i(options.is_product));
  let own_texel: u32 = element.x / 4u;
  let position: vec4u = scan_position(element);
  let texels_before: u32 = min(position.x, position.w) % parameters.block_length / 4u;
  let first: u32 = own_texel - texels_before * scan_stride();
  var total: core_vector = start;
  for (var j: u32 = 0u; j < texels_before; j++) { total = scan_combine(total, operand_0_texel(first + j * scan_stride())); }
  let halves: core_vector = scan_combine(total, total.zwxy);
  let before: core_vector = scan_combine(halves, halves.yxwz);
  let own: core_vector = scan_in_direction(operand_0_texel(own_texel));
  let pairs: core_vector = scan_combine(own, core_vector(start.x, own.x, start.x, own.z));
  let run: core_vector = scan_combine(pairs, core_vector(start.xy, pairs.yy));
  if (parameters.is_exclusive == 1u) { return scan_in_direction(scan_combine(before, core_vector(start.x, run.xyz))); }
  return scan_in_direction(scan_combine(before, run));
}

fn scan_run(element: vec4u) -> core_vector {
  if (parameters.texel_lie == 1) { return scan_along(element); }
  let in_block: vec4u = scan_position(element) % parameters.block_length;
  let first: vec4u = element - in_block * scan_stride();
  let count: vec4u = in_block + vec4u(1u - parameters.is_exclusive);
  let longest: u32 = max(max(count.x, count.y), max(count.z, count.w));
  var result: core_vector = core_vector(vec4i(options.is_product));
  for (var j: u32 = 0u; j < longest; j++) {
    let at: vec4u = first + min(vec4u(j), in_block) * scan_stride();
    var value: core_vector;
    if (parameters.texel_lie == 2) { value = operand_0_texel(at.x / 4u); } else { value = operand_0(at); }
    result = core_pick(ltu(vec4u(j), count), scan_combine(result, value), result);
  }
  return result;
}

fn scan_after(element: vec4u) -> core_vector { return scan_combine(operand_1(scan_block(element)), scan_run(element)); }

fn scan_totals(element: vec4u) -> core_vector {
  let inner: u32 = parameters.inner;
  let last: u32 = parameters.count - 1u;
  let row: vec4u = element / (parameters.blocks * inner);
  let position: vec4u = ((element / inner) % parameters.blocks) * parameters.block_length;
  var result: core_vector = core_vector(vec4i(options.is_product));
  for (var j: u32 = 0u; j < parameters.block_length; j++) {
    let bounded: vec4u = min(position + vec4u(j), vec4u(last));
    var along: vec4u = bounded;
    if (parameters.is_reverse == 1u) { along = vec4u(last) - bounded; }
    let value: core_vector = operand_0((row * parameters.count + along) * inner + element % inner);
    result = core_pick(ltu(position + vec4u(j), vec4u(parameters.count)), scan_combine(result, value), result);
  }
  return result;
}
