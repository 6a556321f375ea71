// matmul: sums of products of two operands. core/contraction.cpp defines the words and options.

// How far from its first element an operand has the element `index` of an odometer of `axes` axes: `operand` is 1 for a
// and 2 for b.
fn matmul_distance(index: vec4u, first_axis: i32, axes: i32, operand: u32) -> vec4u {
  var rest: vec4u = index;
  var distance_along: vec4u = vec4u(0u);
  for (var i: i32 = first_axis; i < first_axis + axes; i++) {
    let size: u32 = core_word(1u + 3u * u32(i));
    distance_along += (rest % size) * core_word(1u + 3u * u32(i) + operand);
    rest = rest / size;
  }
  return distance_along;
}

// How far product k of a sum is from the first one.
fn matmul_step(k: u32, operand: u32) -> u32 {
  if (option_1 == 1) { return k * core_word(1u + 3u * u32(option_0) + operand); }
  return matmul_distance(vec4u(k), option_0, option_1, operand).x;
}

fn matmul_a(start: vec4u, k: u32) -> core_vector {
  let at: vec4u = start + matmul_step(k, 1u);
  if (option_2 == 0) { return operand_0(at); }
  return core_vector(operand_0(vec4u(at.x)).x);
}

// The same of a for the products k to k + 3, side by side.
fn matmul_a_quad(start: vec4u, k: u32) -> core_vector {
  let at: u32 = start.x + matmul_step(k, 1u);
  if (option_2 == 2) { return operand_0_texel(at / 4u); }
  return operand_0(at + vec4u(0u, 1u, 2u, 3u) * core_word(2u + 3u * u32(option_0)));
}

fn matmul_b(start: vec4u, k: u32) -> core_vector {
  let at: vec4u = start + matmul_step(k, 2u);
  if (option_3 == 1) { return operand_1_texel(at.x / 4u); }
  return operand_1(at);
}

// The products k to k + 3 of four results with the same elements of a.
fn matmul_quad(a: core_vector, b: vec4u, k: u32) -> core_vector {
  if (option_3 == 2) {
    let at: vec4u = (b + matmul_step(k, 2u)) / 4u;
    let x: core_vector = operand_1_texel(at.x);
    let y: core_vector = operand_1_texel(at.y);
    let z: core_vector = operand_1_texel(at.z);
    let w: core_vector = operand_1_texel(at.w);
    return a.x * core_vector(x.x, y.x, z.x, w.x) + a.y * core_vector(x.y, y.y, z.y, w.y) +
           a.z * core_vector(x.z, y.z, z.z, w.z) + a.w * core_vector(x.w, y.w, z.w, w.w);
  }
  return a.x * matmul_b(b, k) + a.y * matmul_b(b, k + 1u) + a.z * matmul_b(b, k + 2u) + a.w * matmul_b(b, k + 3u);
}

fn matmul_pull(element: vec4u) -> core_vector {
  let a: vec4u = matmul_distance(element, 0, option_0, 1u);
  let b: vec4u = matmul_distance(element, 0, option_0, 2u);
  let count: u32 = core_word(0u);
  var total: core_vector = core_vector(0);
  if (option_2 == 2 || option_3 == 2) {
    for (var k: u32 = 0u; k < count; k += 4u) { total += matmul_quad(matmul_a_quad(a, k), b, k); }
  } else {
    for (var k: u32 = 0u; k < count; k++) { total += matmul_a(a, k) * matmul_b(b, k); }
  }
  return total;
}
