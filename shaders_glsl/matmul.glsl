// matmul: sums of products of two operands. core/ops/contraction.cpp defines the words and options.

// How far from its first element an operand has the element `index` of an odometer of `axes` axes: `operand` is 1 for a
// and 2 for b.
uvec4 matmul_distance(uvec4 index, int first_axis, int axes, uint operand) {
  uvec4 rest = index;
  uvec4 distance_along = uvec4(0u);
  for (int i = first_axis; i < first_axis + axes; i++) {
    uint size = core_word(1u + 3u * uint(i));
    distance_along += (rest % size) * core_word(1u + 3u * uint(i) + operand);
    rest = rest / size;
  }
  return distance_along;
}

// How far product k of a sum is from the first one.
uint matmul_step(uint k, uint operand) {
  if (option_1 == 1) { return k * core_word(1u + 3u * uint(option_0) + operand); }
  return matmul_distance(uvec4(k), option_0, option_1, operand).x;
}

core_vector matmul_a(uvec4 start, uint k) {
  uvec4 at = start + matmul_step(k, 1u);
  if (option_2 == 0) { return operand_0(at); }
  core_vector ends = operand_0(at.xwww);
  if (option_2 == 1) { return core_vector(ends.x, at.y == at.x ? ends.x : ends.y, at.z == at.x ? ends.x : ends.y, ends.y); }
  return core_vector(ends.x);
}

// Of a, for the products k to k + 3 of results that read the same of it: side by side.
core_vector matmul_a_quad(uvec4 start, uint k) {
  uint at = start.x + matmul_step(k, 1u);
  if (option_2 == 3) { return operand_0_texel(at / 4u); }
  return operand_0(at + uvec4(0u, 1u, 2u, 3u) * core_word(2u + 3u * uint(option_0)));
}

core_vector matmul_b(uvec4 start, uint k) {
  uvec4 at = start + matmul_step(k, 2u);
  if (option_3 == 1) { return operand_1_texel(at.x / 4u); }
  return operand_1(at);
}

// Of b, for the products k to k + 3 of four results.
struct MatmulQuad { core_vector x, y, z, w; };
MatmulQuad matmul_b_quad(uvec4 start, uint k) {
  if (option_3 == 2) {
    uvec4 at = (start + matmul_step(k, 2u)) / 4u;
    core_vector x = operand_1_texel(at.x);
    core_vector y = operand_1_texel(at.y);
    core_vector z = operand_1_texel(at.z);
    core_vector w = operand_1_texel(at.w);
    return MatmulQuad(core_vector(x.x, y.x, z.x, w.x), core_vector(x.y, y.y, z.y, w.y),
                      core_vector(x.z, y.z, z.z, w.z), core_vector(x.w, y.w, z.w, w.w));
  }
  return MatmulQuad(matmul_b(start, k), matmul_b(start, k + 1u), matmul_b(start, k + 2u), matmul_b(start, k + 3u));
}

core_vector matmul_products(core_vector a, MatmulQuad b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

core_vector matmul_pull(uvec4 element) {
  uvec4 a = matmul_distance(element, 0, option_0, 1u);
  uvec4 b = matmul_distance(element, 0, option_0, 2u);
  uint count = core_word(0u);
  core_vector total = core_vector(0);
  if (option_2 == 3 || option_3 == 2) {
    for (uint k = 0u; k < count; k += 4u) { total += matmul_products(matmul_a_quad(a, k), matmul_b_quad(b, k)); }
  } else {
    for (uint k = 0u; k < count; k++) { total += matmul_a(a, k) * matmul_b(b, k); }
  }
  return total;
}
