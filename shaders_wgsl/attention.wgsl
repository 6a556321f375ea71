// attention: softmax(q kᵀ * scale + mask) v in one pass over the keys. Shares are by the largest score so far: a larger
// one makes what was summed before it smaller. core/kernel/attention_parameters.h has the parameters and options.

// The places of a mask's elements for rows of all matrices together.
fn attention_mask_at(row: vec4u, key: vec4u) -> vec4u {
  let queries: u32 = parameters.queries;
  var rest: vec4u = row / queries;
  var at: vec4u = key * parameters.mask[0].distance + (row % queries) * parameters.mask[1].distance;
  for (var i: i32 = 2; i < options.mask_axes; i++) {
    let size: u32 = parameters.mask[i].size;
    at += (rest % size) * parameters.mask[i].distance;
    rest = rest / size;
  }
  return at;
}

// The score from the product of a query and a key, each component being one of both: minus infinity for a key that is
// past the last one, or that the query does not see.
fn attention_score(product: vec4f, row: vec4u, key: vec4u) -> vec4f {
  let keys: u32 = parameters.keys;
  var score: vec4f = product * parameters.scale;
  if (options.mask_kind != 0) {
    let mask: vec4f = vec4f(operand_3(attention_mask_at(row, min(key, vec4u(keys - 1u)))));
    if (options.mask_kind == 1) { score += mask; }
    if (options.mask_kind == 2) { score = pick(gt(mask, vec4f(0.5)), score, -infinity()); }
  }
  if (options.is_causal == 1) { score = pick(ltu(row % parameters.queries + parameters.past, key), -infinity(), score); }
  return pick(ltu(key, vec4u(keys)), score, -infinity());
}

// Shares of keys; the lowest number, rather than minus infinity, is below all scores.
fn attention_lowest() -> vec4f { return vec4f(-3.4028234663852886e38); }

// A mean from its sum, where nothing is wrong with the scores.
fn attention_mean(sum: vec4f, total: vec4f, largest: vec4f) -> vec4f {
  return pick(either(eq(total, vec4f(0.0)), inf4(largest)), not_a_number(), sum / total);
}

// The keys that any row from `first` on, of `count` rows of a matrix, sees.
fn attention_end(first: u32, count: u32) -> u32 {
  let keys: u32 = parameters.keys;
  if (options.is_causal == 0) { return keys; }
  let queries: u32 = parameters.queries;
  let last: u32 = min(first + count, parameters.rows) - 1u;
  let query: u32 = select(queries - 1u, last % queries, first / queries == last / queries);
  return min(keys, query + parameters.past + 1u);
}

// A workgroup makes a tile of rows, each of its teams four of them. For a block of keys, each invocation finds the scores
// of its team's rows and of four keys. The team's shares of all keys lie in workgroup memory then, for each member to sum
// up a texel of its own of the values.
var<workgroup> attention_found: array<vec4f, workgroup_size>;
var<workgroup> attention_shares: array<vec4f, 4u * workgroup_size>;
fn attention(group: u32, local: u32) {
  let stripes: u32 = parameters.stripes;
  let lanes: u32 = parameters.lanes;
  let rows: u32 = parameters.rows;
  let keys: u32 = parameters.keys;
  let depth: u32 = parameters.depth;
  let width: u32 = parameters.width;
  if (group >= parameters.tiles) { return; }
  let matrix: u32 = group / stripes;
  let tile: u32 = group % stripes * (4u * workgroup_size / lanes);
  let lane: u32 = local % lanes;
  let team: u32 = local - lane;
  let first_row: u32 = tile + 4u * (local / lanes);
  let row: vec4u = matrix * rows + min(first_row + vec4u(0u, 1u, 2u, 3u), vec4u(rows - 1u));
  let query: vec4u = row * depth;
  let column: u32 = min(lane, width - 1u);
  var largest: vec4f = attention_lowest();
  var total: vec4f = vec4f(0.0);
  var a: vec4f = vec4f(0.0);
  var b: vec4f = vec4f(0.0);
  var c: vec4f = vec4f(0.0);
  var d: vec4f = vec4f(0.0);
  let end: u32 = attention_end(tile, 4u * workgroup_size / lanes);
  for (var first: u32 = 0u; first < end; first += 4u * lanes) {
    let key: vec4u = first + lane + lanes * vec4u(0u, 1u, 2u, 3u);
    let at: vec4u = (matrix * keys + min(key, vec4u(keys - 1u))) * depth;
    var x: vec4f = vec4f(0.0);
    var y: vec4f = vec4f(0.0);
    var z: vec4f = vec4f(0.0);
    var w: vec4f = vec4f(0.0);
    for (var i: u32 = 0u; i < depth; i++) {
      let q: mat4x4f = mat4x4f(operand_0_texel(query.x + i), operand_0_texel(query.y + i), operand_0_texel(query.z + i),
                               operand_0_texel(query.w + i));
      x += operand_1_texel(at.x + i) * q;
      y += operand_1_texel(at.y + i) * q;
      z += operand_1_texel(at.z + i) * q;
      w += operand_1_texel(at.w + i) * q;
    }
    x = attention_score(x, row, vec4u(key.x));
    y = attention_score(y, row, vec4u(key.y));
    z = attention_score(z, row, vec4u(key.z));
    w = attention_score(w, row, vec4u(key.w));
    attention_found[local] = max(max(x, y), max(z, w));
    workgroupBarrier();
    var larger: vec4f = largest;
    for (var i: u32 = 0u; i < lanes; i++) { larger = max(larger, attention_found[team + i]); }
    attention_shares[4u * team + lane] = exponential(x - larger);
    attention_shares[4u * team + lanes + lane] = exponential(y - larger);
    attention_shares[4u * team + 2u * lanes + lane] = exponential(z - larger);
    attention_shares[4u * team + 3u * lanes + lane] = exponential(w - larger);
    workgroupBarrier();
    let ratio: vec4f = exp(largest - larger);
    largest = larger;
    total *= ratio;
    a *= ratio.x;
    b *= ratio.y;
    c *= ratio.z;
    d *= ratio.w;
    let count: u32 = min(4u * lanes, end - first);
    let value_at: u32 = (matrix * keys + first) * width + column;
    for (var i: u32 = 0u; i < count; i++) {
      let share: vec4f = attention_shares[4u * team + i];
      let value: vec4f = operand_2_texel(value_at + i * width);
      total += share;
      a += share.x * value;
      b += share.y * value;
      c += share.z * value;
      d += share.w * value;
    }
  }
  if (lane >= width) { return; }
  var sums = array<vec4f, 4>(a, b, c, d);
  for (var i: u32 = 0u; i < 4u; i++) {
    if (first_row + i < rows) {
      texel = row[i] * width + lane;
      finish(attention_mean(sums[i], vec4f(total[i]), vec4f(largest[i])));
    }
  }
}

// attention_by_texels: each texel of the result finds the scores of its row again, four keys at a time.
fn attention_by_texels(element: vec4u) -> vec4f {
  let keys: u32 = parameters.keys;
  let depth: u32 = parameters.depth;
  let width: u32 = parameters.width;
  let row: u32 = element.x / (4u * width);
  let matrix: u32 = row / parameters.rows;
  let column: u32 = element.x / 4u % width;
  var largest: vec4f = attention_lowest();
  var total: vec4f = vec4f(0.0);
  var sum: vec4f = vec4f(0.0);
  let end: u32 = attention_end(row % parameters.rows, 1u);
  for (var first: u32 = 0u; first < end; first += 4u) {
    let key: vec4u = first + vec4u(0u, 1u, 2u, 3u);
    let place: vec4u = matrix * keys + min(key, vec4u(keys - 1u));
    var product: vec4f = vec4f(0.0);
    for (var i: u32 = 0u; i < depth; i++) {
      let at: vec4u = place * depth + i;
      product += operand_0_texel(row * depth + i) * mat4x4f(operand_1_texel(at.x), operand_1_texel(at.y), operand_1_texel(at.z), operand_1_texel(at.w));
    }
    let score: vec4f = attention_score(product, vec4u(row), key);
    let pairs: vec4f = max(score, score.zwxy);
    let larger: vec4f = max(largest, max(pairs, pairs.yxwz));
    let ratio: vec4f = exp(largest - larger);
    let share: vec4f = exponential(score - larger);
    let at: vec4u = place * width + column;
    largest = larger;
    total = total * ratio + vec4f((share.x + share.y) + (share.z + share.w));
    sum = sum * ratio + share.x * operand_2_texel(at.x) + share.y * operand_2_texel(at.y) + share.z * operand_2_texel(at.z) + share.w * operand_2_texel(at.w);
  }
  return attention_mean(sum, total, largest);
}
