// matmul: sums of products of two operands. core/kernel/matmul_parameters.h has the parameters and options.

// The distance from an operand's first element to the element `index` of an odometer of `axes` axes: `operand` is 0 for
// a and 1 for b.
fn matmul_distance(index: vec4u, first_axis: i32, axes: i32, operand: u32) -> vec4u {
  var rest: vec4u = index;
  var distance_along: vec4u = vec4u(0u);
  for (var i: i32 = first_axis; i < first_axis + axes; i++) {
    let size: u32 = parameters.axes[i].size;
    distance_along += (rest % size) * parameters.axes[i].distances[operand];
    rest = rest / size;
  }
  return distance_along;
}

// The distance from the first product of a sum to product k.
fn matmul_step(k: u32, operand: u32) -> u32 {
  if (options.summed_axes == 1) { return k * parameters.axes[options.kept_axes].distances[operand]; }
  return matmul_distance(vec4u(k), options.kept_axes, options.summed_axes, operand).x;
}

fn matmul_a(start: vec4u, k: u32) -> core_vector {
  let at: vec4u = start + matmul_step(k, 0u);
  if (options.from_a == 0) { return operand_0(at); }
  let ends: core_vector = operand_0(at.xwww);
  if (options.from_a == 1) { return core_vector(ends.x, select(ends.y, ends.x, at.y == at.x), select(ends.y, ends.x, at.z == at.x), ends.y); }
  return core_vector(ends.x);
}

// The elements of a for the products k to k + 3 of results that read the same of it, side by side.
fn matmul_a_quad(start: vec4u, k: u32) -> core_vector {
  let at: u32 = start.x + matmul_step(k, 0u);
  if (options.from_a == 3) { return operand_0_texel(at / 4u); }
  return operand_0(at + vec4u(0u, 1u, 2u, 3u) * parameters.axes[options.kept_axes].distances[0]);
}

fn matmul_b(start: vec4u, k: u32) -> core_vector {
  let at: vec4u = start + matmul_step(k, 1u);
  if (options.from_b == 1) { return operand_1_texel(at.x / 4u); }
  return operand_1(at);
}

// The elements of b for the products k to k + 3 of four results.
struct MatmulQuad { x: core_vector, y: core_vector, z: core_vector, w: core_vector };
fn matmul_b_quad(start: vec4u, k: u32) -> MatmulQuad {
  if (options.from_b == 2) {
    let at: vec4u = (start + matmul_step(k, 1u)) / 4u;
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
  let a: vec4u = matmul_distance(element, 0, options.kept_axes, 0u);
  let b: vec4u = matmul_distance(element, 0, options.kept_axes, 1u);
  let count: u32 = parameters.count;
  var total: core_vector = core_vector(0);
  if (options.from_a == 3 || options.from_b == 2) {
    for (var k: u32 = 0u; k < count; k += 4u) { total += matmul_products(matmul_a_quad(a, k), matmul_b_quad(b, k)); }
  } else {
    for (var k: u32 = 0u; k < count; k++) { total += matmul_a(a, k) * matmul_b(b, k); }
  }
  return total;
}

// matmul_block: where the result is a batch of matrices of which a gives the rows and b the columns, an invocation
// makes four texels with the same columns, so that the elements of b that it reads serve them all. Written out, since
// not every driver keeps the elements of an array in registers.
fn matmul_block(group: u32, local: u32) {
  let stride: u32 = parameters.stride;
  let blocks: u32 = parameters.blocks;
  let unit: u32 = group * workgroup_size + local;
  let block: u32 = unit / stride;
  if (block >= parameters.all_blocks) { return; }
  let batch: u32 = block / blocks;
  let first_texel: u32 = (block % blocks) * 4u * stride + unit % stride;
  let columns: u32 = parameters.axes[0].size;
  let element: vec4u = 4u * first_texel + vec4u(0u, 1u, 2u, 3u);
  let b: vec4u = matmul_distance(vec4u(batch), 2, options.kept_axes - 2, 1u) + (element % columns) * parameters.axes[0].distances[1];
  let row: vec4u = element / columns;
  let rows_apart: u32 = 4u * stride / columns;
  let x: vec4u = matmul_row(batch, row);
  let y: vec4u = matmul_row(batch, row + rows_apart);
  let z: vec4u = matmul_row(batch, row + 2u * rows_apart);
  let w: vec4u = matmul_row(batch, row + 3u * rows_apart);
  var totals: MatmulQuad = MatmulQuad(core_vector(0), core_vector(0), core_vector(0), core_vector(0));
  let count: u32 = parameters.count;
  if (options.from_a == 3 || options.from_b == 2) {
    for (var k: u32 = 0u; k < count; k += 4u) {
      let quad: MatmulQuad = matmul_b_quad(b, k);
      totals.x += matmul_products(matmul_a_quad(x, k), quad);
      totals.y += matmul_products(matmul_a_quad(y, k), quad);
      totals.z += matmul_products(matmul_a_quad(z, k), quad);
      totals.w += matmul_products(matmul_a_quad(w, k), quad);
    }
  } else {
    for (var k: u32 = 0u; k < count; k++) {
      let value: core_vector = matmul_b(b, k);
      totals.x += matmul_a(x, k) * value;
      totals.y += matmul_a(y, k) * value;
      totals.z += matmul_a(z, k) * value;
      totals.w += matmul_a(w, k) * value;
    }
  }
  matmul_store(batch, first_texel, totals.x);
  matmul_store(batch, first_texel + stride, totals.y);
  matmul_store(batch, first_texel + 2u * stride, totals.z);
  matmul_store(batch, first_texel + 3u * stride, totals.w);
}

// The first elements of rows of a; past the last row, those of the last one.
fn matmul_row(batch: u32, row: vec4u) -> vec4u {
  return matmul_distance(vec4u(batch), 2, options.kept_axes - 2, 0u) + min(row, vec4u(parameters.axes[1].size - 1u)) * parameters.axes[1].distances[0];
}

fn matmul_store(batch: u32, texel_of_matrix: u32, value: core_vector) {
  let texels: u32 = (parameters.axes[1].size * parameters.axes[0].size + 3u) / 4u;
  if (texel_of_matrix >= texels) { return; }
  texel = batch * texels + texel_of_matrix;
  finish(value);
}

// matmul_a_quad and matmul_b_quad from a place on, by steps along the sum.
fn matmul_octet_a(at: u32, step: u32) -> core_vector {
  if (options.from_a == 3) { return operand_0_texel(at / 4u); }
  return operand_0(at + vec4u(0u, 1u, 2u, 3u) * step);
}

fn matmul_octet_b(at: vec4u, step: u32) -> MatmulQuad {
  if (options.from_b == 1) {
    return MatmulQuad(operand_1_texel(at.x / 4u), operand_1_texel((at.x + step) / 4u),
                      operand_1_texel((at.x + 2u * step) / 4u), operand_1_texel((at.x + 3u * step) / 4u));
  }
  if (options.from_b == 0) { return MatmulQuad(operand_1(at), operand_1(at + step), operand_1(at + 2u * step), operand_1(at + 3u * step)); }
  let x: core_vector = operand_1_texel(at.x / 4u);
  let y: core_vector = operand_1_texel(at.y / 4u);
  let z: core_vector = operand_1_texel(at.z / 4u);
  let w: core_vector = operand_1_texel(at.w / 4u);
  return MatmulQuad(core_vector(x.x, y.x, z.x, w.x), core_vector(x.y, y.y, z.y, w.y),
                    core_vector(x.z, y.z, z.z, w.z), core_vector(x.w, y.w, z.w, w.w));
}

// matmul_octets: matmul_block in octets, for columns that are whole texels. It reads no parameter within the loop.
fn matmul_octets(group: u32, local: u32) {
  let place: OctetPlace = octet_place(group, local);
  let columns: u32 = parameters.axes[0].size;
  let rows: u32 = parameters.axes[1].size;
  let step_a: u32 = matmul_step(1u, 0u);
  let step_b: u32 = matmul_step(1u, 1u);
  let b: vec4u = matmul_distance(vec4u(place.matrix), 2, options.kept_axes - 2, 1u) +
                 (min(place.column, columns - 4u) + vec4u(0u, 1u, 2u, 3u)) * parameters.axes[0].distances[1];
  let x: u32 = matmul_row(place.matrix, vec4u(place.row + local % 8u)).x;
  let y: u32 = matmul_row(place.matrix, vec4u(place.row + 8u + local % 8u)).x;
  var upper: OctetTotals = OctetTotals();
  var lower: OctetTotals = OctetTotals();
  let count: u32 = parameters.count;
  let quads: u32 = count / 4u;
  for (var i: u32 = 0u; i < quads; i++) {
    let quad: MatmulQuad = matmul_octet_b(b + 4u * i * step_b, step_b);
    upper = octet_add(upper, matmul_octet_a(x + 4u * i * step_a, step_a), quad.x, quad.y, quad.z, quad.w);
    if (options.octets == 2) {
      lower = octet_add(lower, matmul_octet_a(y + 4u * i * step_a, step_a), quad.x, quad.y, quad.z, quad.w);
    }
  }
  if (options.from_a != 3 && options.from_b != 2) {
    for (var k: u32 = 4u * quads; k < count; k++) {
      let factor: core_vector = matmul_b(b, k);
      upper = octet_add_one(upper, core_vector(operand_0(vec4u(x + k * step_a)).x), factor);
      if (options.octets == 2) { lower = octet_add_one(lower, core_vector(operand_0(vec4u(y + k * step_a)).x), factor); }
    }
  }
  if (group >= parameters.tiles || place.column >= columns || place.row >= rows) { return; }
  let first_texel: u32 = ((place.matrix * rows + place.row) * columns + place.column) / 4u;
  octet_finish(upper, first_texel, columns / 4u, rows - place.row);
  if (options.octets == 2 && place.row + 8u < rows) {
    octet_finish(lower, first_texel + 2u * columns, columns / 4u, rows - place.row - 8u);
  }
}
