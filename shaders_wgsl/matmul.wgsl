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
  let ends: core_vector = operand_0(at.xwww);
  if (option_2 == 1) { return core_vector(ends.x, select(ends.y, ends.x, at.y == at.x), select(ends.y, ends.x, at.z == at.x), ends.y); }
  return core_vector(ends.x);
}

// Of a, for the products k to k + 3 of results that read the same of it: side by side.
fn matmul_a_quad(start: vec4u, k: u32) -> core_vector {
  let at: u32 = start.x + matmul_step(k, 1u);
  if (option_2 == 3) { return operand_0_texel(at / 4u); }
  return operand_0(at + vec4u(0u, 1u, 2u, 3u) * core_word(2u + 3u * u32(option_0)));
}

fn matmul_b(start: vec4u, k: u32) -> core_vector {
  let at: vec4u = start + matmul_step(k, 2u);
  if (option_3 == 1) { return operand_1_texel(at.x / 4u); }
  return operand_1(at);
}

// Of b, for the products k to k + 3 of four results.
struct MatmulQuad { x: core_vector, y: core_vector, z: core_vector, w: core_vector };
fn matmul_b_quad(start: vec4u, k: u32) -> MatmulQuad {
  if (option_3 == 2) {
    let at: vec4u = (start + matmul_step(k, 2u)) / 4u;
    let x: core_vector = operand_1_texel(at.x);
    let y: core_vector = operand_1_texel(at.y);
    let z: core_vector = operand_1_texel(at.z);
    let w: core_vector = operand_1_texel(at.w);
    return MatmulQuad(core_vector(x.x, y.x, z.x, w.x), core_vector(x.y, y.y, z.y, w.y),
                      core_vector(x.z, y.z, z.z, w.z), core_vector(x.w, y.w, z.w, w.w));
  }
  return MatmulQuad(matmul_b(start, k), matmul_b(start, k + 1u), matmul_b(start, k + 2u), matmul_b(start, k + 3u));
}

fn matmul_products(a: core_vector, b: MatmulQuad) -> core_vector { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

fn matmul_pull(element: vec4u) -> core_vector {
  let a: vec4u = matmul_distance(element, 0, option_0, 1u);
  let b: vec4u = matmul_distance(element, 0, option_0, 2u);
  let count: u32 = core_word(0u);
  var total: core_vector = core_vector(0);
  if (option_2 == 3 || option_3 == 2) {
    for (var k: u32 = 0u; k < count; k += 4u) { total += matmul_products(matmul_a_quad(a, k), matmul_b_quad(b, k)); }
  } else {
    for (var k: u32 = 0u; k < count; k++) { total += matmul_a(a, k) * matmul_b(b, k); }
  }
  return total;
}

// matmul_block: where the result is a batch of matrices of which a gives the rows and b the columns, an invocation makes
// several texels with the same columns, so that what it reads of b serves them all.
fn matmul_block(group: u32, local: u32) {
  let columns: u32 = core_word(1u);
  let rows: u32 = core_word(4u);
  let first_word: u32 = 1u + 3u * u32(option_0 + option_1);
  let stride: u32 = core_word(first_word);       // from one texel of the invocation to its next: whole rows
  let blocks: u32 = core_word(first_word + 1u);  // of each matrix
  let block: u32 = (group * workgroup_size + local) / stride;
  if (block >= core_word(first_word + 2u)) { return; }
  let batch: u32 = block / blocks;
  let first_texel: u32 = (block % blocks) * u32(option_4) * stride + (group * workgroup_size + local) % stride;
  let element: vec4u = 4u * first_texel + vec4u(0u, 1u, 2u, 3u);
  let a: vec4u = matmul_distance(vec4u(batch), 2, option_0 - 2, 1u);
  let b: vec4u = matmul_distance(vec4u(batch), 2, option_0 - 2, 2u) + (element % columns) * core_word(3u);
  var starts: array<vec4u, option_4>;
  for (var i: u32 = 0u; i < u32(option_4); i++) {
    let row: vec4u = element / columns + i * (4u * stride / columns);
    starts[i] = a + min(row, vec4u(rows - 1u)) * core_word(5u);
  }
  var totals: array<core_vector, option_4>;
  let count: u32 = core_word(0u);
  if (option_3 == 2) {
    for (var k: u32 = 0u; k < count; k += 4u) {
      let quad: MatmulQuad = matmul_b_quad(b, k);
      for (var i: u32 = 0u; i < u32(option_4); i++) { totals[i] += matmul_products(matmul_a_quad(starts[i], k), quad); }
    }
  } else {
    for (var k: u32 = 0u; k < count; k++) {
      let column: core_vector = matmul_b(b, k);
      for (var i: u32 = 0u; i < u32(option_4); i++) { totals[i] += matmul_a(starts[i], k) * column; }
    }
  }
  let texels: u32 = (rows * columns + 3u) / 4u;
  for (var i: u32 = 0u; i < u32(option_4); i++) {
    let own: u32 = first_texel + i * stride;
    if (own < texels) {
      texel = batch * texels + own;
      finish(totals[i]);
    }
  }
}
