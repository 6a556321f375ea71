// row: each element in relation to the others of its row. core/kernel/row_parameters.h has the parameters and options.

// The texels of x that an invocation reads for a team, and their elements that belong to the team's rows.
struct RowWalk {
  row: u32,                         // the texel that the team's rows begin in
  first: u32, step: u32, end: u32,  // the texels to read
  first_element: u32, end_element: u32,
}
fn row_walk(team: u32, member: u32, team_size: u32) -> RowWalk {
  let count: u32 = parameters.count;
  if (options.in_columns == 0) {
    let start: u32 = team * count;
    return RowWalk(start / 4u, start / 4u + member, team_size, (start + count + 3u) / 4u, start, start + count);
  }
  let texels: u32 = parameters.inner / 4u;
  let start: u32 = team / texels * count * texels;
  let row: u32 = start + team % texels;
  return RowWalk(row, row + member * texels, team_size * texels, start + count * texels, 4u * start,
                 4u * (start + count * texels));
}

// Elements before the first one wrap around.
fn row_inside(walk: RowWalk, at: u32) -> vec4<bool> {
  if (options.in_columns == 1) { return vec4<bool>(true); }
  let element: vec4u = 4u * at + vec4u(0u, 1u, 2u, 3u);
  return ltu(element - walk.first_element, vec4u(walk.end_element - walk.first_element));
}

fn row_larger(a: vec4f, b: vec4f) -> vec4f { return pick(either(gt(b, a), nan4(b)), b, a); }

// The largest of all four components, or each by itself where they are rows of their own.
fn row_largest(a: vec4f) -> vec4f {
  if (options.in_columns == 1) { return a; }
  let pairs: vec4f = row_larger(a, a.zwxy);
  return row_larger(pairs, pairs.yxwz);
}

fn row_sum(a: vec4f) -> vec4f {
  if (options.in_columns == 1) { return a; }
  return vec4f((a.x + a.y) + (a.z + a.w));
}

// The team of an invocation in its workgroup, and its number in the team. Neighbours read neighbours: members of a team go
// along a row side by side, and teams of columns lie side by side.
fn row_team(local: u32) -> u32 {
  if (options.in_columns == 1) { return local % parameters.teams_together; }
  return local / parameters.team_size;
}

fn row_member(local: u32) -> u32 {
  if (options.in_columns == 1) { return local / parameters.teams_together; }
  return local % parameters.team_size;
}

fn row_apart() -> u32 { return select(1u, parameters.teams_together, options.in_columns == 1); }

// Each invocation writes what it found for its team to read: in two slots, so that one barrier each is enough.
var<workgroup> row_found: array<vec4f, 2u * workgroup_size>;
fn row_tell(found: vec4f, slot: u32, local: u32) -> u32 {
  row_found[slot * workgroup_size + local] = found;
  workgroupBarrier();
  return slot * workgroup_size + local - row_member(local) * row_apart();
}

// The largest that the members of a team found.
fn row_team_largest(found: vec4f, slot: u32, local: u32) -> vec4f {
  let first: u32 = row_tell(found, slot, local);
  var largest: vec4f = row_found[first];
  for (var i: u32 = 1u; i < parameters.team_size; i++) {
    largest = row_larger(largest, row_found[first + i * row_apart()]);
  }
  return row_largest(largest);
}

fn row_team_sum(found: vec4f, slot: u32, local: u32) -> vec4f {
  let first: u32 = row_tell(found, slot, local);
  var total: vec4f = row_found[first];
  for (var i: u32 = 1u; i < parameters.team_size; i++) { total += row_found[first + i * row_apart()]; }
  return row_sum(total);
}

// Sums of exponentials, of which each is by the largest element so far: a larger one makes the sum of those before it
// smaller. The lowest number rather than minus infinity comes first, since infinities have no difference.
struct RowExponentials { largest: vec4f, total: vec4f }
fn row_no_exponentials() -> RowExponentials { return RowExponentials(vec4f(-3.4028234663852886e38), vec4f(0.0)); }

fn row_exponentials_with(sums: RowExponentials, value: vec4f) -> RowExponentials {
  let ratio: vec4f = exp(min(value, sums.largest) - max(value, sums.largest));
  let total: vec4f = pick(gt(value, sums.largest), sums.total * ratio + vec4f(1.0), sums.total + ratio);
  return RowExponentials(max(value, sums.largest), pick(nan4(value), value, total));
}

// The sums by the largest element of all.
fn row_exponentials_by(sums: RowExponentials, largest: vec4f) -> vec4f { return sums.total * exp(sums.largest - largest); }

// Elements become results by these: they are moved by -origin and, what that leaves being small, by -offset.
struct RowStatistics { origin: vec4f, offset: vec4f, scale: vec4f }
fn row_softmax_of(largest: vec4f, total: vec4f) -> RowStatistics {
  let sum: vec4f = pick(inf4(largest), not_a_number(), total);
  if (options.kind == 0) { return RowStatistics(largest, vec4f(0.0), sum); }
  return RowStatistics(largest, logarithm(sum), vec4f(1.0));
}

fn row_softmax_statistics(walk: RowWalk, local: u32) -> RowStatistics {
  var sums: RowExponentials = row_no_exponentials();
  for (var at: u32 = walk.first; at < walk.end; at += walk.step) {
    let value: vec4f = operand_0_texel(at);
    let inside: vec4<bool> = row_inside(walk, at);
    let next: RowExponentials = row_exponentials_with(sums, value);
    sums.total = pick(inside, next.total, sums.total);
    sums.largest = pick(inside, next.largest, sums.largest);
  }
  let largest: vec4f = row_team_largest(sums.largest, 0u, local);
  return row_softmax_of(largest, row_team_sum(row_exponentials_by(sums, largest), 1u, local));
}

// Sums are of differences from the first element, which keeps them accurate far from zero.
fn row_layer_norm_statistics(walk: RowWalk, local: u32) -> RowStatistics {
  let count: f32 = f32(parameters.count);
  var first: vec4f = operand_0_texel(walk.row);
  if (options.in_columns == 0) { first = vec4f(first[walk.first_element % 4u]); }
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
  return RowStatistics(first, offset, 1.0 / sqrt(row_team_sum(squares, 1u, local) / count + parameters.epsilon));
}

fn row_rms_norm_statistics(walk: RowWalk, local: u32) -> RowStatistics {
  var squares: vec4f = vec4f(0.0);
  for (var at: u32 = walk.first; at < walk.end; at += walk.step) {
    let value: vec4f = operand_0_texel(at);
    squares = pick(row_inside(walk, at), squares + value * value, squares);
  }
  let mean: vec4f = row_team_sum(squares, 0u, local) / f32(parameters.count);
  return RowStatistics(vec4f(0.0), vec4f(0.0), 1.0 / sqrt(mean + parameters.epsilon));
}

fn row_team_statistics(walk: RowWalk, local: u32) -> RowStatistics {
  if (options.kind <= 1) { return row_softmax_statistics(walk, local); }
  if (options.kind == 2) { return row_layer_norm_statistics(walk, local); }
  return row_rms_norm_statistics(walk, local);
}

fn row_result(value: vec4f, statistics: RowStatistics) -> vec4f {
  if (options.kind == 0) { return exponential(value - statistics.origin) / statistics.scale; }
  return ((value - statistics.origin) - statistics.offset) * statistics.scale;
}

// Rows that lie one after the other may end within a texel: so the workgroup makes the texels of all its rows together.
var<workgroup> row_known: array<vec3f, workgroup_size>;
fn row_finish_together(statistics: RowStatistics, group: u32, local: u32) {
  let count: u32 = parameters.count;
  let teams: u32 = parameters.teams_together;
  if (local % parameters.team_size == 0u) {
    row_known[local / parameters.team_size] = vec3f(statistics.origin.x, statistics.offset.x, statistics.scale.x);
  }
  workgroupBarrier();
  let first_row: u32 = group * teams;
  let end: u32 = (min(first_row + teams, parameters.teams) * count + 3u) / 4u;
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

// A team that has no row reads nothing.
fn row_walk_in_workgroup(group: u32, local: u32) -> RowWalk {
  let team_size: u32 = parameters.team_size;
  let team: u32 = group * parameters.teams_together + row_team(local);
  if (row_team(local) >= parameters.teams_together || team >= parameters.teams) { return RowWalk(0u, 0u, 1u, 0u, 0u, 0u); }
  return row_walk(team, row_member(local), team_size);
}

fn row_normalize(group: u32, local: u32) {
  let walk: RowWalk = row_walk_in_workgroup(group, local);
  let statistics: RowStatistics = row_team_statistics(walk, local);
  if (options.in_columns == 0) {
    row_finish_together(statistics, group, local);
  } else {
    for (texel = walk.first; texel < walk.end; texel += walk.step) {
      finish(row_result(operand_0_texel(texel), statistics));
    }
  }
}

// The sum, or the largest, of an octet's values, for all of its members.
fn row_octet_sum(value: f32) -> f32 {
  let of_two: f32 = value + subgroupShuffleXor(value, 1u);
  let of_four: f32 = of_two + subgroupShuffleXor(of_two, 2u);
  return of_four + subgroupShuffleXor(of_four, 4u);
}

fn row_octet_largest(value: f32) -> f32 {
  let of_two: f32 = max(value, subgroupShuffleXor(value, 1u));
  let of_four: f32 = max(of_two, subgroupShuffleXor(of_two, 2u));
  return max(of_four, subgroupShuffleXor(of_four, 4u));
}

fn row_octet_softmax(first: u32, end: u32) -> RowStatistics {
  var sums: RowExponentials = row_no_exponentials();
  for (var at: u32 = first; at < end; at += 8u) { sums = row_exponentials_with(sums, operand_0_texel(at)); }
  let largest: vec4f = sums.largest;
  let of_row: vec4f = vec4f(row_octet_largest(max(max(largest.x, largest.y), max(largest.z, largest.w))));
  let parts: vec4f = row_exponentials_by(sums, of_row);
  return row_softmax_of(of_row, vec4f(row_octet_sum((parts.x + parts.y) + (parts.z + parts.w))));
}

// Means and squares of differences from them, which change with each element (Welford); then those of all members
// (Chan). Elements are seen from the first one of the row, which keeps means accurate far from zero.
fn row_octet_layer_norm(first: u32, end: u32) -> RowStatistics {
  let count: f32 = f32(parameters.count);
  let own: vec4f = operand_0_texel(first);
  let origin: vec4f = vec4f(octet_0(own).x);
  var mean: vec4f = own - origin;
  var squares: vec4f = vec4f(0.0);
  var texels: f32 = 1.0;
  for (var at: u32 = first + 8u; at < end; at += 8u) {
    let value: vec4f = operand_0_texel(at) - origin;
    let difference: vec4f = value - mean;
    texels += 1.0;
    mean += difference * (1.0 / texels);
    squares += difference * (value - mean);
  }
  let offset: f32 = row_octet_sum(texels * row_sum(mean).x) / count;
  let apart: vec4f = mean - vec4f(offset);
  let total: f32 = row_octet_sum(row_sum(squares + texels * (apart * apart)).x);
  return RowStatistics(origin, vec4f(offset), vec4f(1.0 / sqrt(total / count + parameters.epsilon)));
}

fn row_octet_rms_norm(first: u32, end: u32) -> RowStatistics {
  var squares: vec4f = vec4f(0.0);
  for (var at: u32 = first; at < end; at += 8u) {
    let value: vec4f = operand_0_texel(at);
    squares += value * value;
  }
  let mean: f32 = row_octet_sum(row_sum(squares).x) / f32(parameters.count);
  return RowStatistics(vec4f(0.0), vec4f(0.0), vec4f(1.0 / sqrt(mean + parameters.epsilon)));
}

fn row_octet_statistics(first: u32, end: u32) -> RowStatistics {
  if (options.kind <= 1) { return row_octet_softmax(first, end); }
  if (options.kind == 2) { return row_octet_layer_norm(first, end); }
  return row_octet_rms_norm(first, end);
}

// row_octets: row_normalize with an octet for each row of whole texels, of which each member has one at least. It reads
// rows twice.
fn row_octets(group: u32, local: u32) {
  let texels: u32 = parameters.count / 4u;
  let row: u32 = group * (workgroup_size / 8u) + local / 8u;
  let start: u32 = min(row, parameters.teams - 1u) * texels;
  let statistics: RowStatistics = row_octet_statistics(start + local % 8u, start + texels);
  if (row >= parameters.teams) { return; }
  row_start = start;
  for (texel = start + local % 8u; texel < start + texels; texel += 8u) {
    finish(row_result(operand_0_texel(texel), statistics));
  }
}

// One invocation finds the statistics of a team's rows.
fn row_statistics_of(team: u32) -> RowStatistics { return row_team_statistics(row_walk(team, 0u, 1u), 0u); }

// The team that has the columns of a texel.
fn row_team_at(at: u32) -> u32 {
  let texels: u32 = parameters.inner / 4u;
  return at / (parameters.count * texels) * texels + at % texels;
}

// Neighbours often belong to one row.
fn row_by_texels(element: vec4u) -> vec4f {
  let at: u32 = element.x / 4u;
  if (options.in_columns == 1) { return row_result(operand_0_texel(at), row_statistics_of(row_team_at(at))); }
  let row: vec4u = element / parameters.count;
  var known: RowStatistics = row_statistics_of(row.x);
  var by_element: RowStatistics = known;
  for (var i: u32 = 1u; i < 4u; i++) {
    if (row[i] != row[i - 1u]) { known = row_statistics_of(row[i]); }
    by_element.origin[i] = known.origin.x;
    by_element.offset[i] = known.offset.x;
    by_element.scale[i] = known.scale.x;
  }
  return row_result(operand_0_texel(at), by_element);
}

// One of the statistics of four columns, of which there are row_parts() in core/ops/row.cpp. Each is found along with the
// others: invocations that do different things wait for each other.
fn row_part(of_columns: RowStatistics, part: u32) -> vec4f {
  if (options.kind == 3) { return of_columns.scale; }
  if (part == 0u) { return of_columns.origin; }
  if (options.kind == 0 || part == 2u) { return of_columns.scale; }
  return of_columns.offset;
}

fn row_of_parts(team: u32) -> RowStatistics {
  let teams: u32 = parameters.teams;
  let first: vec4f = operand_1_texel(team);
  if (options.kind == 3) { return RowStatistics(vec4f(0.0), vec4f(0.0), first); }
  let second: vec4f = operand_1_texel(teams + team);
  if (options.kind == 0) { return RowStatistics(first, vec4f(0.0), second); }
  if (options.kind == 1) { return RowStatistics(first, second, vec4f(1.0)); }
  return RowStatistics(first, second, operand_1_texel(2u * teams + team));
}

fn row_statistics(element: vec4u) -> vec4f {
  let at: u32 = element.x / 4u;
  if (options.in_columns == 1) { return row_part(row_statistics_of(at % parameters.teams), at / parameters.teams); }
  let known: RowStatistics = row_statistics_of(at);
  return vec4f(known.origin.x, known.offset.x, known.scale.x, 0.0);
}

fn row_apply(element: vec4u) -> vec4f {
  let at: u32 = element.x / 4u;
  if (options.in_columns == 1) { return row_result(operand_0_texel(at), row_of_parts(row_team_at(at))); }
  // Rows are longer than a texel, which has elements of two at the most.
  let last_row: u32 = element.w / parameters.count;
  let of_first: vec4f = operand_1_texel(element.x / parameters.count);
  let of_last: vec4f = operand_1_texel(last_row);
  let in_first: vec4<bool> = ltu(element, vec4u(last_row * parameters.count));
  return row_result(operand_0_texel(at), RowStatistics(pick(in_first, vec4f(of_first.x), vec4f(of_last.x)),
                                                       pick(in_first, vec4f(of_first.y), vec4f(of_last.y)),
                                                       pick(in_first, vec4f(of_first.z), vec4f(of_last.z))));
}

fn row_lrn(element: vec4u) -> vec4f {
  let channels: u32 = parameters.channels;
  let radius: u32 = parameters.radius;
  let channel: vec4u = element % channels;
  var squares: vec4f = vec4f(0.0);
  for (var i: u32 = 0u; i <= 2u * radius; i++) {
    let other: vec4u = min(max(channel + i, vec4u(radius)) - radius, vec4u(channels - 1u));
    let value: vec4f = operand_0(element - channel + other);
    squares = pick(eqi(vec4i(other + radius), vec4i(channel + i)), squares + value * value, squares);
  }
  return operand_0(element) / power(parameters.bias + parameters.alpha * squares, vec4f(parameters.beta));
}
