// Products whose long sums are shared out: options.shares invocations of a workgroup go over the same sums in turns, and
// workgroup memory brings their parts together. With matmul.wgsl; core/kernel/matmul_parameters.h has the parameters and
// options.

// The parts of the sums of one to four texels an invocation.
var<workgroup> matmul_parts: array<core_vector, 4u * workgroup_size>;
fn matmul_keep_part(at: u32, part: core_vector) { matmul_parts[at] = part; }

fn matmul_total(first: u32, apart: u32) -> core_vector {
  var total: core_vector = matmul_parts[first];
  for (var i: u32 = 1u; i < u32(options.shares); i++) { total += matmul_parts[first + i * apart]; }
  return total;
}

// matmul_pull for one texel.
fn matmul_split(group: u32, local: u32) {
  let shares: u32 = u32(options.shares);
  let texels: u32 = workgroup_size / shares;
  let share: u32 = local / texels;
  let own: u32 = group * texels + local % texels;
  let end: u32 = (word(0u) + 3u) / 4u;
  let element: vec4u = 4u * min(own, end - 1u) + vec4u(0u, 1u, 2u, 3u);
  let a: vec4u = matmul_distance(element, 0, options.kept_axes, 0u);
  let b: vec4u = matmul_distance(element, 0, options.kept_axes, 1u);
  let count: u32 = parameters.count;
  var total: core_vector = core_vector(0);
  if (options.from_a == 3 || options.from_b == 2) {
    for (var k: u32 = 4u * share; k < count; k += 4u * shares) { total += matmul_products(matmul_a_quad(a, k), matmul_b_quad(b, k)); }
  } else {
    for (var k: u32 = share; k < count; k += shares) { total += matmul_a(a, k) * matmul_b(b, k); }
  }
  matmul_keep_part(local, total);
  workgroupBarrier();
  if (share > 0u || own >= end) { return; }
  texel = own;
  finish(matmul_total(local, texels));
}

// matmul_block for one block. There are four shares at least: each of the first four adds up a texel of the block.
fn matmul_split_block(group: u32, local: u32) {
  let shares: u32 = u32(options.shares);
  let units: u32 = workgroup_size / shares;
  let share: u32 = local / units;
  let stride: u32 = parameters.stride;
  let blocks: u32 = parameters.blocks;
  let unit: u32 = group * units + local % units;
  let block: u32 = min(unit / stride, parameters.all_blocks - 1u);
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
    for (var k: u32 = 4u * share; k < count; k += 4u * shares) {
      let quad: MatmulQuad = matmul_b_quad(b, k);
      totals.x += matmul_products(matmul_a_quad(x, k), quad);
      totals.y += matmul_products(matmul_a_quad(y, k), quad);
      totals.z += matmul_products(matmul_a_quad(z, k), quad);
      totals.w += matmul_products(matmul_a_quad(w, k), quad);
    }
  } else {
    for (var k: u32 = share; k < count; k += shares) {
      let value: core_vector = matmul_b(b, k);
      totals.x += matmul_a(x, k) * value;
      totals.y += matmul_a(y, k) * value;
      totals.z += matmul_a(z, k) * value;
      totals.w += matmul_a(w, k) * value;
    }
  }
  matmul_keep_part(local, totals.x);
  matmul_keep_part(workgroup_size + local, totals.y);
  matmul_keep_part(2u * workgroup_size + local, totals.z);
  matmul_keep_part(3u * workgroup_size + local, totals.w);
  workgroupBarrier();
  if (share >= 4u || unit / stride >= parameters.all_blocks) { return; }
  matmul_store(batch, first_texel + share * stride, matmul_total(share * workgroup_size + local % units, units));
}
