// scan: running sums and products along an axis. core/ops/scan.cpp defines the words and options.

fn scan_inside(a: vec4u, b: vec4u) -> vec4<bool> { return a < b; }

// Where an element is along the axis, counted in the direction of the scan.
fn scan_position(element: vec4u) -> vec4u {
  let along: vec4u = (element / core_word(1u)) % core_word(0u);
  if (core_word(4u) == 1u) { return vec4u(core_word(0u) - 1u) - along; }
  return along;
}

// From one position to the next, in elements; backwards it wraps around.
fn scan_stride() -> u32 {
  if (core_word(4u) == 1u) { return 0u - core_word(1u); }
  return core_word(1u);
}

// Where the operand with the wholes of the blocks has the one of an element.
fn scan_block(element: vec4u) -> vec4u {
  let inner: u32 = core_word(1u);
  let row: vec4u = element / (core_word(0u) * inner);
  return (row * core_word(6u) + scan_position(element) / core_word(2u)) * inner + element % inner;
}

fn scan_combine(a: core_vector, b: core_vector) -> core_vector {
  if (option_0 == 1) { return a * b; }
  return a + b;
}

// Of the four elements of a texel, the last one in the direction of the scan comes last.
fn scan_in_direction(a: core_vector) -> core_vector {
  if (core_word(4u) == 1u) { return a.wzyx; }
  return a;
}

// The texel's elements lie along the axis: the texels before it in its block, then its own elements.
fn scan_along(element: vec4u) -> core_vector {
  let start: core_vector = core_vector(vec4i(option_0));
  let own_texel: u32 = element.x / 4u;
  let position: vec4u = scan_position(element);
  let texels_before: u32 = min(position.x, position.w) % core_word(2u) / 4u;
  let first: u32 = own_texel - texels_before * scan_stride();
  var total: core_vector = start;
  for (var j: u32 = 0u; j < texels_before; j++) { total = scan_combine(total, operand_0_texel(first + j * scan_stride())); }
  let halves: core_vector = scan_combine(total, total.zwxy);
  let before: core_vector = scan_combine(halves, halves.yxwz);
  let own: core_vector = scan_in_direction(operand_0_texel(own_texel));
  let pairs: core_vector = scan_combine(own, core_vector(start.x, own.x, start.x, own.z));
  let run: core_vector = scan_combine(pairs, core_vector(start.xy, pairs.yy));
  if (core_word(3u) == 1u) { return scan_in_direction(scan_combine(before, core_vector(start.x, run.xyz))); }
  return scan_in_direction(scan_combine(before, run));
}

fn scan_run(element: vec4u) -> core_vector {
  if (core_word(5u) == 1u) { return scan_along(element); }
  let in_block: vec4u = scan_position(element) % core_word(2u);
  let first: vec4u = element - in_block * scan_stride();
  let count: vec4u = in_block + vec4u(1u - core_word(3u));
  let longest: u32 = max(max(count.x, count.y), max(count.z, count.w));
  var result: core_vector = core_vector(vec4i(option_0));
  for (var j: u32 = 0u; j < longest; j++) {
    let at: vec4u = first + min(vec4u(j), in_block) * scan_stride();
    var value: core_vector;
    if (core_word(5u) == 2u) { value = operand_0_texel(at.x / 4u); } else { value = operand_0(at); }
    result = core_pick(scan_inside(vec4u(j), count), scan_combine(result, value), result);
  }
  return result;
}

fn scan_after(element: vec4u) -> core_vector { return scan_combine(operand_1(scan_block(element)), scan_run(element)); }

fn scan_totals(element: vec4u) -> core_vector {
  let inner: u32 = core_word(1u);
  let last: u32 = core_word(0u) - 1u;
  let row: vec4u = element / (core_word(6u) * inner);
  let position: vec4u = ((element / inner) % core_word(6u)) * core_word(2u);
  var result: core_vector = core_vector(vec4i(option_0));
  for (var j: u32 = 0u; j < core_word(2u); j++) {
    let bounded: vec4u = min(position + vec4u(j), vec4u(last));
    var along: vec4u = bounded;
    if (core_word(4u) == 1u) { along = vec4u(last) - bounded; }
    let value: core_vector = operand_0((row * core_word(0u) + along) * inner + element % inner);
    result = core_pick(scan_inside(position + vec4u(j), vec4u(core_word(0u))), scan_combine(result, value), result);
  }
  return result;
}
