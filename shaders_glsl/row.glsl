// row: each element in relation to the others of its row. core/ops/row.cpp and core/ops/norms.cpp define the words and options.
// There are no workgroups here: each invocation that needs a row reads all of it.

// Four elements of a row, or fewer at its ends; `inside` tells which ones are of the row.
vec4 row_read(uint row, uint i, out bvec4 inside) {
  uint count = core_word(0u);
  if (option_1 == 0) {
    uint at = row * count / 4u + i;
    uvec4 element = uvec4(4u * at) + uvec4(0u, 1u, 2u, 3u);
    inside = both(greaterThanEqual(element, uvec4(row * count)), lessThan(element, uvec4(row * count + count)));
    return operand_0_texel(at);
  }
  uint inner = core_word(1u);
  uvec4 index = uvec4(4u * i) + uvec4(0u, 1u, 2u, 3u);
  inside = lessThan(index, uvec4(count));
  return operand_0(row / inner * inner * count + row % inner + min(index, uvec4(count - 1u)) * inner);
}

// How often row_read() is to be called for a row.
uint row_reads(uint row) {
  uint count = core_word(0u);
  uint skipped = option_1 == 0 ? row * count % 4u : 0u;
  return (skipped + count + 3u) / 4u;
}

vec4 row_larger(vec4 a, vec4 b) { return pick(either(gt(b, a), nan4(b)), b, a); }

float row_sum(vec4 a) { return (a.x + a.y) + (a.z + a.w); }

vec4 row_softmax_statistics(uint row) {
  uint reads = row_reads(row);
  bvec4 inside;
  vec4 largest = -infinity();
  for (uint i = 0u; i < reads; i++) {
    vec4 value = row_read(row, i, inside);
    largest = pick(inside, row_larger(largest, value), largest);
  }
  largest = row_larger(largest, largest.zwxy);
  largest = row_larger(largest, largest.yxwz);
  vec4 total = vec4(0.0);
  for (uint i = 0u; i < reads; i++) {
    vec4 value = row_read(row, i, inside);
    total = pick(inside, total + exponential(value - largest), total);
  }
  if (option_0 == 0) { return vec4(largest.x, 0.0, row_sum(total), 0.0); }
  return vec4(largest.x, logarithm(vec4(row_sum(total))).x, 1.0, 0.0);
}

// Sums are of differences from the first element, which keeps them accurate far from zero.
vec4 row_layer_norm_statistics(uint row) {
  uint reads = row_reads(row);
  float count = float(core_word(0u));
  bvec4 inside;
  vec4 ends = row_read(row, 0u, inside);
  float first = inside.x ? ends.x : inside.y ? ends.y : inside.z ? ends.z : ends.w;
  vec4 total = vec4(0.0);
  for (uint i = 0u; i < reads; i++) {
    vec4 value = row_read(row, i, inside);
    total = pick(inside, total + (value - first), total);
  }
  float offset = row_sum(total) / count;
  vec4 squares = vec4(0.0);
  for (uint i = 0u; i < reads; i++) {
    vec4 difference = (row_read(row, i, inside) - first) - offset;
    squares = pick(inside, squares + difference * difference, squares);
  }
  return vec4(first, offset, 1.0 / sqrt(row_sum(squares) / count + core_float(5u)), 0.0);
}

vec4 row_rms_norm_statistics(uint row) {
  uint reads = row_reads(row);
  bvec4 inside;
  vec4 squares = vec4(0.0);
  for (uint i = 0u; i < reads; i++) {
    vec4 value = row_read(row, i, inside);
    squares = pick(inside, squares + value * value, squares);
  }
  return vec4(0.0, 0.0, 1.0 / sqrt(row_sum(squares) / float(core_word(0u)) + core_float(5u)), 0.0);
}

// Elements of the row are moved by -origin and, what that leaves being small, by -offset; then scaled.
vec4 row_known(uint row) {
  if (option_0 <= 1) { return row_softmax_statistics(row); }
  if (option_0 == 2) { return row_layer_norm_statistics(row); }
  return row_rms_norm_statistics(row);
}

vec4 row_statistics(uvec4 element) { return row_known(element.x / 4u); }

uvec4 row_of(uvec4 element) {
  uint inner = core_word(1u);
  return element / (core_word(0u) * inner) * inner + element % inner;
}

vec4 row_result(vec4 value, vec4 origin, vec4 offset, vec4 scale) {
  if (option_0 == 0) { return exponential(value - origin) / scale; }
  return ((value - origin) - offset) * scale;
}

// Neighbours are often of one row.
vec4 row_normalize(uvec4 element) {
  uvec4 row = row_of(element);
  vec4 known, origin, offset, scale;
  for (int i = 0; i < 4; i++) {
    if (i == 0 || row[i] != row[i - 1]) { known = row_known(row[i]); }
    origin[i] = known.x;
    offset[i] = known.y;
    scale[i] = known.z;
  }
  return row_result(operand_0(element), origin, offset, scale);
}

vec4 row_apply(uvec4 element) {
  uvec4 row = row_of(element);
  mat4 known = transpose(mat4(operand_1_texel(row.x), operand_1_texel(row.y), operand_1_texel(row.z), operand_1_texel(row.w)));
  return row_result(operand_0_texel(element.x / 4u), known[0], known[1], known[2]);
}

vec4 row_lrn(uvec4 element) {
  uint channels = core_word(0u);
  uint radius = core_word(1u);
  uvec4 channel = element % channels;
  vec4 squares = vec4(0.0);
  for (uint i = 0u; i <= 2u * radius; i++) {
    uvec4 other = min(max(channel + i, uvec4(radius)) - radius, uvec4(channels - 1u));
    vec4 value = operand_0(element - channel + other);
    squares = pick(eqi(ivec4(other + radius), ivec4(channel + i)), squares + value * value, squares);
  }
  return operand_0(element) / power(core_float(2u) + core_float(3u) * squares, vec4(core_float(4u)));
}
