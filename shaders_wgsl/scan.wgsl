// scan: running sums and products along an axis. core/scan.cpp defines the words and options.

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

fn scan_combine(a: vec4f, b: vec4f) -> vec4f {
  if (option_0 == 1) { return a * b; }
  return a + b;
}

// Of the four elements of a texel, the last one in the direction of the scan comes last.
fn scan_in_direction(a: vec4f) -> vec4f {
  if (core_word(4u) == 1u) { return a.wzyx; }
  return a;
}

// The texel's elements lie along the axis: the texels before it in its block, then its own elements.
fn scan_along(element: vec4u) -> vec4f {
  let start: vec4f = vec4f(f32(option_0));
  let own_texel: u32 = element.x / 4u;
  let position: vec4u = scan_position(element);
  let texels_before: u32 = min(position.x, position.w) % core_word(2u) / 4u;
  let first: u32 = own_texel - texels_before * scan_stride();
  var total: vec4f = start;
  for (var j: u32 = 0u; j < texels_before; j++) { total = scan_combine(total, operand_0_texel(first + j * scan_stride())); }
  let halves: vec4f = scan_combine(total, total.zwxy);
  let before: vec4f = scan_combine(halves, halves.yxwz);
  let own: vec4f = scan_in_direction(operand_0_texel(own_texel));
  let pairs: vec4f = scan_combine(own, vec4f(start.x, own.x, start.x, own.z));
  let run: vec4f = scan_combine(pairs, vec4f(start.xy, pairs.yy));
  if (core_word(3u) == 1u) { return scan_in_direction(scan_combine(before, vec4f(start.x, run.xyz))); }
  return scan_in_direction(scan_combine(before, run));
}

fn scan_run(element: vec4u) -> vec4f {
  if (core_word(5u) == 1u) { return scan_along(element); }
  let in_block: vec4u = scan_position(element) % core_word(2u);
  let first: vec4u = element - in_block * scan_stride();
  let count: vec4u = in_block + vec4u(1u - core_word(3u));
  let longest: u32 = max(max(count.x, count.y), max(count.z, count.w));
  var result: vec4f = vec4f(f32(option_0));
  for (var j: u32 = 0u; j < longest; j++) {
    let at: vec4u = first + min(vec4u(j), in_block) * scan_stride();
    var value: vec4f;
    if (core_word(5u) == 2u) { value = operand_0_texel(at.x / 4u); } else { value = operand_0(at); }
    result = pick(scan_inside(vec4u(j), count), scan_combine(result, value), result);
  }
  return result;
}

fn scan_after(element: vec4u) -> vec4f { return scan_combine(operand_1(scan_block(element)), scan_run(element)); }

fn scan_totals(element: vec4u) -> vec4f {
  let inner: u32 = core_word(1u);
  let last: u32 = core_word(0u) - 1u;
  let row: vec4u = element / (core_word(6u) * inner);
  let position: vec4u = ((element / inner) % core_word(6u)) * core_word(2u);
  var result: vec4f = vec4f(f32(option_0));
  for (var j: u32 = 0u; j < core_word(2u); j++) {
    let bounded: vec4u = min(position + vec4u(j), vec4u(last));
    var along: vec4u = bounded;
    if (core_word(4u) == 1u) { along = vec4u(last) - bounded; }
    let value: vec4f = operand_0((row * core_word(0u) + along) * inner + element % inner);
    result = pick(scan_inside(position + vec4u(j), vec4u(core_word(0u))), scan_combine(result, value), result);
  }
  return result;
}

fn scan_combine_i32(a: vec4i, b: vec4i) -> vec4i {
  if (option_0 == 1) { return a * b; }
  return a + b;
}

// Of the four elements of a texel, the last one in the direction of the scan comes last.
fn scan_in_direction_i32(a: vec4i) -> vec4i {
  if (core_word(4u) == 1u) { return a.wzyx; }
  return a;
}

// The texel's elements lie along the axis: the texels before it in its block, then its own elements.
fn scan_along_i32(element: vec4u) -> vec4i {
  let start: vec4i = vec4i(i32(option_0));
  let own_texel: u32 = element.x / 4u;
  let position: vec4u = scan_position(element);
  let texels_before: u32 = min(position.x, position.w) % core_word(2u) / 4u;
  let first: u32 = own_texel - texels_before * scan_stride();
  var total: vec4i = start;
  for (var j: u32 = 0u; j < texels_before; j++) { total = scan_combine_i32(total, operand_0_texel(first + j * scan_stride())); }
  let halves: vec4i = scan_combine_i32(total, total.zwxy);
  let before: vec4i = scan_combine_i32(halves, halves.yxwz);
  let own: vec4i = scan_in_direction_i32(operand_0_texel(own_texel));
  let pairs: vec4i = scan_combine_i32(own, vec4i(start.x, own.x, start.x, own.z));
  let run: vec4i = scan_combine_i32(pairs, vec4i(start.xy, pairs.yy));
  if (core_word(3u) == 1u) { return scan_in_direction_i32(scan_combine_i32(before, vec4i(start.x, run.xyz))); }
  return scan_in_direction_i32(scan_combine_i32(before, run));
}

fn scan_run_i32(element: vec4u) -> vec4i {
  if (core_word(5u) == 1u) { return scan_along_i32(element); }
  let in_block: vec4u = scan_position(element) % core_word(2u);
  let first: vec4u = element - in_block * scan_stride();
  let count: vec4u = in_block + vec4u(1u - core_word(3u));
  let longest: u32 = max(max(count.x, count.y), max(count.z, count.w));
  var result: vec4i = vec4i(i32(option_0));
  for (var j: u32 = 0u; j < longest; j++) {
    let at: vec4u = first + min(vec4u(j), in_block) * scan_stride();
    var value: vec4i;
    if (core_word(5u) == 2u) { value = operand_0_texel(at.x / 4u); } else { value = operand_0(at); }
    result = picki(scan_inside(vec4u(j), count), scan_combine_i32(result, value), result);
  }
  return result;
}

fn scan_after_i32(element: vec4u) -> vec4i { return scan_combine_i32(operand_1(scan_block(element)), scan_run_i32(element)); }

fn scan_totals_i32(element: vec4u) -> vec4i {
  let inner: u32 = core_word(1u);
  let last: u32 = core_word(0u) - 1u;
  let row: vec4u = element / (core_word(6u) * inner);
  let position: vec4u = ((element / inner) % core_word(6u)) * core_word(2u);
  var result: vec4i = vec4i(i32(option_0));
  for (var j: u32 = 0u; j < core_word(2u); j++) {
    let bounded: vec4u = min(position + vec4u(j), vec4u(last));
    var along: vec4u = bounded;
    if (core_word(4u) == 1u) { along = vec4u(last) - bounded; }
    let value: vec4i = operand_0((row * core_word(0u) + along) * inner + element % inner);
    result = picki(scan_inside(position + vec4u(j), vec4u(core_word(0u))), scan_combine_i32(result, value), result);
  }
  return result;
}
