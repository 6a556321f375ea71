// matmul_tile: a workgroup makes 32 rows by 32 columns of a matrix, and reads what they share into workgroup memory, 16
// terms of the sums at a time. Each of its 64 invocations makes four rows by four columns, for columns that are whole
// texels. With matmul.wgsl; core/kernel/matmul_parameters.h has the parameters and options.

// Four terms of a row of a from k on, zeros after the last one.
fn matmul_tile_quad(row: u32, k: u32, step: u32) -> core_vector {
  let at: vec4u = min(k + vec4u(0u, 1u, 2u, 3u), vec4u(parameters.count - 1u));
  if (options.from_a == 3) { return select(core_vector(0), operand_0_texel((row + at.x * step) / 4u), k < parameters.count); }
  return select(core_vector(0), operand_0(row + at * step), k + vec4u(0u, 1u, 2u, 3u) < vec4u(parameters.count));
}

// Four terms of a row and of four columns, from workgroup memory.
var<workgroup> matmul_tile_a: array<core_vector, 128u>;  // four quads along the sum for each row
var<workgroup> matmul_tile_b: array<core_vector, 128u>;  // eight texels for each term
fn matmul_tile_sum(row: u32, lane: u32, quad: u32) -> core_vector {
  let a: core_vector = matmul_tile_a[4u * row + quad];
  let b: u32 = 32u * quad + lane;
  return a.x * matmul_tile_b[b] + a.y * matmul_tile_b[b + 8u] + a.z * matmul_tile_b[b + 16u] + a.w * matmul_tile_b[b + 24u];
}

fn matmul_tile_store(matrix: u32, row: u32, column: u32, value: core_vector) {
  if (row >= parameters.axes[1].size) { return; }
  texel = ((matrix * parameters.axes[1].size + row) * parameters.axes[0].size + column) / 4u;
  finish(value);
}

fn matmul_tile(group: u32, local: u32) {
  let down: u32 = parameters.row_tiles;
  let across: u32 = parameters.column_tiles;
  let matrix: u32 = group / (down * across);
  let first_row: u32 = group % down * 32u;
  let first_column: u32 = group / down % across * 32u;
  let columns: u32 = parameters.axes[0].size;
  let count: u32 = parameters.count;
  let step_a: u32 = matmul_step(1u, 0u);
  // What this invocation reads for all: a quad of each of two rows, and a texel for each of two terms.
  let upper: u32 = matmul_row(matrix, vec4u(first_row + local / 4u)).x;
  let lower: u32 = matmul_row(matrix, vec4u(first_row + 16u + local / 4u)).x;
  let b: vec4u = matmul_distance(vec4u(matrix), 2, options.kept_axes - 2, 1u) +
                 (min(first_column + local % 8u * 4u, columns - 4u) + vec4u(0u, 1u, 2u, 3u)) * parameters.axes[0].distances[1];
  let row: u32 = local / 8u * 4u;
  let lane: u32 = local % 8u;
  var x: core_vector = core_vector(0);
  var y: core_vector = core_vector(0);
  var z: core_vector = core_vector(0);
  var w: core_vector = core_vector(0);
  for (var first: u32 = 0u; first < count; first += 16u) {
    let quad: u32 = first + local % 4u * 4u;
    matmul_tile_a[local] = matmul_tile_quad(upper, quad, step_a);
    matmul_tile_a[64u + local] = matmul_tile_quad(lower, quad, step_a);
    let term: u32 = first + local / 8u;
    matmul_tile_b[local] = select(core_vector(0), matmul_b(b, min(term, count - 1u)), term < count);
    matmul_tile_b[64u + local] = select(core_vector(0), matmul_b(b, min(term + 8u, count - 1u)), term + 8u < count);
    workgroupBarrier();
    for (var i: u32 = 0u; i < 4u; i++) {
      x += matmul_tile_sum(row, lane, i);
      y += matmul_tile_sum(row + 1u, lane, i);
      z += matmul_tile_sum(row + 2u, lane, i);
      w += matmul_tile_sum(row + 3u, lane, i);
    }
    workgroupBarrier();
  }
  let column: u32 = first_column + lane * 4u;
  if (group >= parameters.tiles || column >= columns) { return; }
  matmul_tile_store(matrix, first_row + row, column, x);
  matmul_tile_store(matrix, first_row + row + 1u, column, y);
  matmul_tile_store(matrix, first_row + row + 2u, column, z);
  matmul_tile_store(matrix, first_row + row + 3u, column, w);
}
