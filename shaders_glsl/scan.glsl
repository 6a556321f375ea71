// scan: running sums and products along an axis. core/ops/scan.cpp defines the words and options.

bvec4 scan_inside(uvec4 a, uvec4 b) { return lessThan(a, b); }

// Where an element is along the axis, counted in the direction of the scan.
uvec4 scan_position(uvec4 element) {
  uvec4 along = (element / core_word(1u)) % core_word(0u);
  if (core_word(4u) == 1u) { return uvec4(core_word(0u) - 1u) - along; }
  return along;
}

// From one position to the next, in elements; backwards it wraps around.
uint scan_stride() {
  if (core_word(4u) == 1u) { return 0u - core_word(1u); }
  return core_word(1u);
}

// Where the operand with the wholes of the blocks has the one of an element.
uvec4 scan_block(uvec4 element) {
  uint inner = core_word(1u);
  uvec4 row = element / (core_word(0u) * inner);
  return (row * core_word(6u) + scan_position(element) / core_word(2u)) * inner + element % inner;
}

core_vector scan_combine(core_vector a, core_vector b) {
  if (option_0 == 1) { return a * b; }
  return a + b;
}

// Of the four elements of a texel, the last one in the direction of the scan comes last.
core_vector scan_in_direction(core_vector a) {
  if (core_word(4u) == 1u) { return a.wzyx; }
  return a;
}

// The texel's elements lie along the axis: the texels before it in its block, then its own elements.
core_vector scan_along(uvec4 element) {
  core_vector start = core_vector(ivec4(option_0));
  uint own_texel = element.x / 4u;
  uvec4 position = scan_position(element);
  uint texels_before = min(position.x, position.w) % core_word(2u) / 4u;
  uint first = own_texel - texels_before * scan_stride();
  core_vector total = start;
  for (uint j = 0u; j < texels_before; j++) { total = scan_combine(total, operand_0_texel(first + j * scan_stride())); }
  core_vector halves = scan_combine(total, total.zwxy);
  core_vector before = scan_combine(halves, halves.yxwz);
  core_vector own = scan_in_direction(operand_0_texel(own_texel));
  core_vector pairs = scan_combine(own, core_vector(start.x, own.x, start.x, own.z));
  core_vector run = scan_combine(pairs, core_vector(start.xy, pairs.yy));
  if (core_word(3u) == 1u) { return scan_in_direction(scan_combine(before, core_vector(start.x, run.xyz))); }
  return scan_in_direction(scan_combine(before, run));
}

core_vector scan_run(uvec4 element) {
  if (core_word(5u) == 1u) { return scan_along(element); }
  uvec4 in_block = scan_position(element) % core_word(2u);
  uvec4 first = element - in_block * scan_stride();
  uvec4 count = in_block + uvec4(1u - core_word(3u));
  uint longest = max(max(count.x, count.y), max(count.z, count.w));
  core_vector result = core_vector(ivec4(option_0));
  for (uint j = 0u; j < longest; j++) {
    uvec4 at = first + min(uvec4(j), in_block) * scan_stride();
    core_vector value;
    if (core_word(5u) == 2u) { value = operand_0_texel(at.x / 4u); } else { value = operand_0(at); }
    result = core_pick(scan_inside(uvec4(j), count), scan_combine(result, value), result);
  }
  return result;
}

core_vector scan_after(uvec4 element) { return scan_combine(operand_1(scan_block(element)), scan_run(element)); }

core_vector scan_totals(uvec4 element) {
  uint inner = core_word(1u);
  uint last = core_word(0u) - 1u;
  uvec4 row = element / (core_word(6u) * inner);
  uvec4 position = ((element / inner) % core_word(6u)) * core_word(2u);
  core_vector result = core_vector(ivec4(option_0));
  for (uint j = 0u; j < core_word(2u); j++) {
    uvec4 bounded = min(position + uvec4(j), uvec4(last));
    uvec4 along = bounded;
    if (core_word(4u) == 1u) { along = uvec4(last) - bounded; }
    core_vector value = operand_0((row * core_word(0u) + along) * inner + element % inner);
    result = core_pick(scan_inside(position + uvec4(j), uvec4(core_word(0u))), scan_combine(result, value), result);
  }
  return result;
}
