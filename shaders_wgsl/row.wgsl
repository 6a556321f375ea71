// row: each element in relation to the others of its row. core/ops/row.cpp and core/ops/norms.cpp define the words and options.

// Which texels of x an invocation of a workgroup reads, and which elements of them belong to its team's rows. A team that
// has no row reads nothing.
struct RowWalk {
  row: u32,                         // the texel that the team's rows begin in
  first: u32, step: u32, end: u32,  // those to read
  first_element: u32, end_element: u32,
}
fn row_walk(group: u32, local: u32) -> RowWalk {
  let count: u32 = core_word(0u);
  let inner: u32 = core_word(1u);
  let team_size: u32 = core_word(3u);
  let team: u32 = group * core_word(4u) + local / team_size;
  if (local / team_size >= core_word(4u) || team >= core_word(2u)) { return RowWalk(0u, 0u, 1u, 0u, 0u, 0u); }
  if (option_1 == 0) {
    let start: u32 = team * count;
    return RowWalk(start / 4u, start / 4u + local % team_size, team_size, (start + count + 3u) / 4u, start, start + count);
  }
  let texels: u32 = inner / 4u;
  let start: u32 = team / texels * count * texels;
  let row: u32 = start + team % texels;
  return RowWalk(row, row + local % team_size * texels, team_size * texels, start + count * texels, 4u * start,
                 4u * (start + count * texels));
}

fn row_inside(walk: RowWalk, at: u32) -> vec4<bool> {
  let element: vec4u = 4u * at + vec4u(0u, 1u, 2u, 3u);
  return (element >= vec4u(walk.first_element)) & (element < vec4u(walk.end_element));
}

fn row_larger(a: vec4f, b: vec4f) -> vec4f { return pick(either(gt(b, a), nan4(b)), b, a); }

// What each invocation found, for its team to read: twice, so that one barrier each is enough.
var<workgroup> row_found: array<vec4f, 2u * workgroup_size>;
fn row_tell(found: vec4f, slot: u32, local: u32) -> u32 {
  row_found[slot * workgroup_size + local] = found;
  workgroupBarrier();
  return slot * workgroup_size + local - local % core_word(3u);
}

// The largest number that the team found: of all four components, or of each by itself where they are rows of their own.
fn row_team_largest(found: vec4f, slot: u32, local: u32) -> vec4f {
  let first: u32 = row_tell(found, slot, local);
  var largest: vec4f = row_found[first];
  for (var i: u32 = 1u; i < core_word(3u); i++) { largest = row_larger(largest, row_found[first + i]); }
  if (option_1 == 1) { return largest; }
  let pairs: vec4f = row_larger(largest, largest.zwxy);
  return row_larger(pairs, pairs.yxwz);
}

fn row_team_sum(found: vec4f, slot: u32, local: u32) -> vec4f {
  let first: u32 = row_tell(found, slot, local);
  var total: vec4f = row_found[first];
  for (var i: u32 = 1u; i < core_word(3u); i++) { total += row_found[first + i]; }
  if (option_1 == 1) { return total; }
  return vec4f((total.x + total.y) + (total.z + total.w));
}

// What row_result() needs to know of a row: elements are moved by -origin and, what that leaves being small, by -offset.
struct RowStatistics { origin: vec4f, offset: vec4f, scale: vec4f }
fn row_softmax_statistics(walk: RowWalk, local: u32) -> RowStatistics {
  var found: vec4f = -infinity();
  for (var at: u32 = walk.first; at < walk.end; at += walk.step) {
    found = pick(row_inside(walk, at), row_larger(found, operand_0_texel(at)), found);
  }
  let largest: vec4f = row_team_largest(found, 0u, local);
  var total: vec4f = vec4f(0.0);
  for (var at: u32 = walk.first; at < walk.end; at += walk.step) {
    total = pick(row_inside(walk, at), total + exponential(operand_0_texel(at) - largest), total);
  }
  let sum: vec4f = row_team_sum(total, 1u, local);
  if (option_0 == 0) { return RowStatistics(largest, vec4f(0.0), sum); }
  return RowStatistics(largest, logarithm(sum), vec4f(1.0));
}

// Sums are of differences from the first element, which keeps them accurate far from zero.
fn row_layer_norm_statistics(walk: RowWalk, local: u32) -> RowStatistics {
  let count: f32 = f32(core_word(0u));
  var first: vec4f = operand_0_texel(walk.row);
  if (option_1 == 0) { first = vec4f(first[walk.first_element % 4u]); }
  var total: vec4f = vec4f(0.0);
  for (var at: u32 = walk.first; at < walk.end; at += walk.step) {
    total = pick(row_inside(walk, at), total + (operand_0_texel(at) - first), total);
  }
  let offset: vec4f = row_team_sum(total, 0u, local) / count;
  var squares: vec4f = vec4f(0.0);
  for (var at: u32 = walk.first; at < walk.end; at += walk.step) {
    let difference: vec4f = (operand_0_texel(at) - first) - offset;
    squares = pick(row_inside(walk, at), squares + difference * difference, squares);
  }
  return RowStatistics(first, offset, 1.0 / sqrt(row_team_sum(squares, 1u, local) / count + core_float(5u)));
}

fn row_rms_norm_statistics(walk: RowWalk, local: u32) -> RowStatistics {
  var squares: vec4f = vec4f(0.0);
  for (var at: u32 = walk.first; at < walk.end; at += walk.step) {
    let value: vec4f = operand_0_texel(at);
    squares = pick(row_inside(walk, at), squares + value * value, squares);
  }
  let mean: vec4f = row_team_sum(squares, 0u, local) / f32(core_word(0u));
  return RowStatistics(vec4f(0.0), vec4f(0.0), 1.0 / sqrt(mean + core_float(5u)));
}

fn row_statistics(walk: RowWalk, local: u32) -> RowStatistics {
  if (option_0 <= 1) { return row_softmax_statistics(walk, local); }
  if (option_0 == 2) { return row_layer_norm_statistics(walk, local); }
  return row_rms_norm_statistics(walk, local);
}

fn row_result(value: vec4f, statistics: RowStatistics) -> vec4f {
  if (option_0 == 0) { return exponential(value - statistics.origin) / statistics.scale; }
  return ((value - statistics.origin) - statistics.offset) * statistics.scale;
}

// Rows that lie one after the other may end within a texel: so the workgroup makes the texels of all its rows together.
var<workgroup> row_known: array<vec3f, workgroup_size>;
fn row_finish_together(statistics: RowStatistics, group: u32, local: u32) {
  let count: u32 = core_word(0u);
  let teams: u32 = core_word(4u);
  if (local % core_word(3u) == 0u) {
    row_known[local / core_word(3u)] = vec3f(statistics.origin.x, statistics.offset.x, statistics.scale.x);
  }
  workgroupBarrier();
  let first_row: u32 = group * teams;
  let end: u32 = (min(first_row + teams, core_word(2u)) * count + 3u) / 4u;
  for (texel = first_row * count / 4u + local; texel < end; texel += workgroup_size) {
    var known: mat4x3f;
    if (count % 4u == 0u) {
      let row: vec3f = row_known[4u * texel / count - first_row];
      known = mat4x3f(row, row, row, row);
    } else {
      let row: vec4u = elements() / count - first_row;
      known = mat4x3f(row_known[row.x], row_known[row.y], row_known[row.z], row_known[row.w]);
    }
    let by_element: mat3x4f = transpose(known);
    finish(row_result(operand_0_texel(texel), RowStatistics(by_element[0], by_element[1], by_element[2])));
  }
}

fn row_normalize(group: u32, local: u32) {
  let walk: RowWalk = row_walk(group, local);
  let statistics: RowStatistics = row_statistics(walk, local);
  if (option_1 == 0) {
    row_finish_together(statistics, group, local);
  } else {
    for (texel = walk.first; texel < walk.end; texel += walk.step) {
      finish(row_result(operand_0_texel(texel), statistics));
    }
  }
}

fn row_lrn(element: vec4u) -> vec4f {
  let channels: u32 = core_word(0u);
  let radius: u32 = core_word(1u);
  let channel: vec4u = element % channels;
  var squares: vec4f = vec4f(0.0);
  for (var i: u32 = 0u; i <= 2u * radius; i++) {
    let other: vec4u = min(max(channel + i, vec4u(radius)) - radius, vec4u(channels - 1u));
    let value: vec4f = operand_0(element - channel + other);
    squares = pick(eqi(vec4i(other + radius), vec4i(channel + i)), squares + value * value, squares);
  }
  return operand_0(element) / power(core_float(2u) + core_float(3u) * squares, vec4f(core_float(4u)));
}
