// attention: softmax(q kᵀ * scale + mask) v in one pass over the keys. Shares are by the largest score so far: a larger
// one makes what was summed before it smaller. core/kernel/attention_parameters.h has the parameters and options.

// The place of a row's mask for key 0, of rows of all matrices together.
fn attention_mask_of(row: u32) -> u32 {
  let queries: u32 = parameters.queries;
  var rest: u32 = row / queries;
  var at: u32 = (row % queries) * parameters.mask[1].distance;
  for (var i: i32 = 2; i < options.mask_axes; i++) {
    let size: u32 = parameters.mask[i].size;
    at += (rest % size) * parameters.mask[i].distance;
    rest = rest / size;
  }
  return at;
}

// The last key that a row sees, if it sees none to come.
fn attention_last_key(row: u32) -> u32 { return row % parameters.queries + parameters.past; }

// The scores from the products of a query and four keys: minus infinity for a key that is past the last one, or that the
// query does not see.
fn attention_score(product: vec4f, mask: u32, last_key: u32, key: vec4u) -> vec4f {
  let keys: u32 = parameters.keys;
  var score: vec4f = product * parameters.scale;
  if (options.mask_kind != 0) {
    let number: vec4f = vec4f(operand_3(mask + min(key, vec4u(keys - 1u)) * parameters.mask[0].distance));
    if (options.mask_kind == 1) { score += number; }
    if (options.mask_kind == 2) { score = pick(gt(number, vec4f(0.5)), score, -infinity()); }
  }
  if (options.is_causal == 1) { score = pick(ltu(vec4u(last_key), key), -infinity(), score); }
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

// A number for each of the eight rows of an octet; here, the largest of its scores, of four keys of each member, and of the
// number before.
struct AttentionRows { upper: vec4f, lower: vec4f }
fn attention_largest(before: AttentionRows, score: OctetTotals) -> AttentionRows {
  let x: vec4f = max(max(vec4f(score.a.x, score.b.x, score.c.x, score.d.x), vec4f(score.a.y, score.b.y, score.c.y, score.d.y)),
                     max(vec4f(score.a.z, score.b.z, score.c.z, score.d.z), vec4f(score.a.w, score.b.w, score.c.w, score.d.w)));
  let y: vec4f = max(max(vec4f(score.e.x, score.f.x, score.g.x, score.h.x), vec4f(score.e.y, score.f.y, score.g.y, score.h.y)),
                     max(vec4f(score.e.z, score.f.z, score.g.z, score.h.z), vec4f(score.e.w, score.f.w, score.g.w, score.h.w)));
  var rows: AttentionRows = AttentionRows(max(before.upper, x), max(before.lower, y));
  for (var apart: u32 = 1u; apart < 8u; apart *= 2u) {
    rows = AttentionRows(max(rows.upper, subgroupShuffleXor(rows.upper, apart)), max(rows.lower, subgroupShuffleXor(rows.lower, apart)));
  }
  return rows;
}

fn attention_octet_score(product: vec4f, mask: u32, last_key: u32, member: u32, key: vec4u) -> vec4f {
  return attention_score(product, subgroupShuffle(mask, octet_first + member), subgroupShuffle(last_key, octet_first + member), key);
}

fn attention_octet_scores(product: OctetTotals, mask: u32, last_key: u32, key: vec4u) -> OctetTotals {
  return OctetTotals(
      attention_octet_score(product.a, mask, last_key, 0u, key), attention_octet_score(product.b, mask, last_key, 1u, key),
      attention_octet_score(product.c, mask, last_key, 2u, key), attention_octet_score(product.d, mask, last_key, 3u, key),
      attention_octet_score(product.e, mask, last_key, 4u, key), attention_octet_score(product.f, mask, last_key, 5u, key),
      attention_octet_score(product.g, mask, last_key, 6u, key), attention_octet_score(product.h, mask, last_key, 7u, key));
}

fn attention_octet_shares(score: OctetTotals, largest: AttentionRows) -> OctetTotals {
  return OctetTotals(exponential(score.a - largest.upper.x), exponential(score.b - largest.upper.y),
                     exponential(score.c - largest.upper.z), exponential(score.d - largest.upper.w),
                     exponential(score.e - largest.lower.x), exponential(score.f - largest.lower.y),
                     exponential(score.g - largest.lower.z), exponential(score.h - largest.lower.w));
}

// The shares of a member's four keys.
fn attention_shares_of(shares: OctetTotals, member: u32) -> OctetTotals {
  return OctetTotals(octet_value(shares.a, member), octet_value(shares.b, member), octet_value(shares.c, member),
                     octet_value(shares.d, member), octet_value(shares.e, member), octet_value(shares.f, member),
                     octet_value(shares.g, member), octet_value(shares.h, member));
}

fn attention_scaled(sums: OctetTotals, ratio: AttentionRows) -> OctetTotals {
  return OctetTotals(sums.a * ratio.upper.x, sums.b * ratio.upper.y, sums.c * ratio.upper.z, sums.d * ratio.upper.w,
                     sums.e * ratio.lower.x, sums.f * ratio.lower.y, sums.g * ratio.lower.z, sums.h * ratio.lower.w);
}

// A texel of the value of a key; past the last key, zeros.
fn attention_value(matrix: u32, key: u32, column: u32) -> vec4f {
  let keys: u32 = parameters.keys;
  let width: u32 = parameters.width;
  let value: vec4f = operand_2_texel((matrix * keys + min(key, keys - 1u)) * width + column);
  if (options.whole_quads == 1) { return value; }
  return select(vec4f(0.0), value, key < keys);
}

fn attention_add(sums: OctetTotals, shares: OctetTotals, matrix: u32, key: u32, column: u32) -> OctetTotals {
  let x: vec4f = attention_value(matrix, key, column);
  let y: vec4f = attention_value(matrix, key + 1u, column);
  let z: vec4f = attention_value(matrix, key + 2u, column);
  let w: vec4f = attention_value(matrix, key + 3u, column);
  return OctetTotals(sums.a + octet_sum(shares.a, x, y, z, w), sums.b + octet_sum(shares.b, x, y, z, w),
                     sums.c + octet_sum(shares.c, x, y, z, w), sums.d + octet_sum(shares.d, x, y, z, w),
                     sums.e + octet_sum(shares.e, x, y, z, w), sums.f + octet_sum(shares.f, x, y, z, w),
                     sums.g + octet_sum(shares.g, x, y, z, w), sums.h + octet_sum(shares.h, x, y, z, w));
}

fn attention_octet_finish(sums: OctetTotals, total: AttentionRows, largest: AttentionRows, row: u32, count: u32, column: u32) {
  let width: u32 = parameters.width;
  if (column >= width) { return; }
  let means: OctetTotals = OctetTotals(
      attention_mean(sums.a, vec4f(total.upper.x), vec4f(largest.upper.x)), attention_mean(sums.b, vec4f(total.upper.y), vec4f(largest.upper.y)),
      attention_mean(sums.c, vec4f(total.upper.z), vec4f(largest.upper.z)), attention_mean(sums.d, vec4f(total.upper.w), vec4f(largest.upper.w)),
      attention_mean(sums.e, vec4f(total.lower.x), vec4f(largest.lower.x)), attention_mean(sums.f, vec4f(total.lower.y), vec4f(largest.lower.y)),
      attention_mean(sums.g, vec4f(total.lower.z), vec4f(largest.lower.z)), attention_mean(sums.h, vec4f(total.lower.w), vec4f(largest.lower.w)));
  octet_finish(means, row * width + column, width, count);
}

// attention_octets: an octet makes eight rows, or some columns of them. For 32 keys at a time, each member finds the
// scores of the eight rows for four keys of its own, as a product in octets. With the shares of all members' keys, it
// sums up texels of its own of the values.
fn attention_octets(group: u32, local: u32) {
  let rows: u32 = parameters.rows;
  let keys: u32 = parameters.keys;
  let depth: u32 = parameters.depth;
  let stripes: u32 = parameters.stripes;
  let column_stripes: u32 = parameters.column_stripes;
  let octets: u32 = workgroup_size / 8u;
  let first_stripe: u32 = min(group * octets, parameters.tiles - 1u) / column_stripes;
  let last_stripe: u32 = (min((group + 1u) * octets, parameters.tiles) - 1u) / column_stripes;
  let tile: u32 = min(group * octets + local / 8u, parameters.tiles - 1u);
  let member: u32 = local % 8u;
  let matrix: u32 = tile / column_stripes / stripes;
  let first_row: u32 = tile / column_stripes % stripes * 8u;
  let row: u32 = matrix * rows + min(first_row + member, rows - 1u);
  let column: u32 = tile % column_stripes * 8u * u32(options.columns) + member;
  let last_column: u32 = parameters.width - 1u;
  var mask: u32 = 0u;
  if (options.mask_kind != 0) { mask = attention_mask_of(row); }
  let last_key: u32 = attention_last_key(row);
  var largest: AttentionRows = AttentionRows(attention_lowest(), attention_lowest());
  var total: AttentionRows = AttentionRows();
  var sums_0: OctetTotals = OctetTotals();
  var sums_1: OctetTotals = OctetTotals();
  var sums_2: OctetTotals = OctetTotals();
  var sums_3: OctetTotals = OctetTotals();
  var end: u32 = keys;
  if (first_stripe / stripes == last_stripe / stripes) {
    end = attention_end(first_stripe % stripes * 8u, (last_stripe - first_stripe + 1u) * 8u);
  }
  for (var first: u32 = 0u; first < end; first += 32u) {
    let key: vec4u = first + 4u * member + vec4u(0u, 1u, 2u, 3u);
    let at: vec4u = (matrix * keys + min(key, vec4u(keys - 1u))) * depth;
    var product: OctetTotals = OctetTotals();
    for (var i: u32 = 0u; i < depth; i++) {
      let x: vec4f = operand_1_texel(at.x + i);
      let y: vec4f = operand_1_texel(at.y + i);
      let z: vec4f = operand_1_texel(at.z + i);
      let w: vec4f = operand_1_texel(at.w + i);
      product = octet_add(product, operand_0_texel(row * depth + i), vec4f(x.x, y.x, z.x, w.x), vec4f(x.y, y.y, z.y, w.y),
                          vec4f(x.z, y.z, z.z, w.z), vec4f(x.w, y.w, z.w, w.w));
    }
    let score: OctetTotals = attention_octet_scores(product, mask, last_key, key);
    let larger: AttentionRows = attention_largest(largest, score);
    let ratio: AttentionRows = AttentionRows(exp(largest.upper - larger.upper), exp(largest.lower - larger.lower));
    let shares: OctetTotals = attention_octet_shares(score, larger);
    largest = larger;
    total.upper = total.upper * ratio.upper + vec4f(attention_sum(shares.a), attention_sum(shares.b), attention_sum(shares.c), attention_sum(shares.d));
    total.lower = total.lower * ratio.lower + vec4f(attention_sum(shares.e), attention_sum(shares.f), attention_sum(shares.g), attention_sum(shares.h));
    sums_0 = attention_scaled(sums_0, ratio);
    if (options.columns > 1) { sums_1 = attention_scaled(sums_1, ratio); }
    if (options.columns > 2) {
      sums_2 = attention_scaled(sums_2, ratio);
      sums_3 = attention_scaled(sums_3, ratio);
    }
    let quads: u32 = min(8u, (end - first + 3u) / 4u);
    for (var i: u32 = 0u; i < quads; i++) {
      let share: OctetTotals = attention_shares_of(shares, i);
      let value: u32 = first + 4u * i;
      sums_0 = attention_add(sums_0, share, matrix, value, min(column, last_column));
      if (options.columns > 1) { sums_1 = attention_add(sums_1, share, matrix, value, min(column + 8u, last_column)); }
      if (options.columns > 2) {
        sums_2 = attention_add(sums_2, share, matrix, value, min(column + 16u, last_column));
        sums_3 = attention_add(sums_3, share, matrix, value, min(column + 24u, last_column));
      }
    }
  }
  for (var apart: u32 = 1u; apart < 8u; apart *= 2u) {
    total = AttentionRows(total.upper + subgroupShuffleXor(total.upper, apart), total.lower + subgroupShuffleXor(total.lower, apart));
  }
  if (group * octets + local / 8u >= parameters.tiles) { return; }
  let first_of_all: u32 = matrix * rows + first_row;
  attention_octet_finish(sums_0, total, largest, first_of_all, rows - first_row, column);
  if (options.columns > 1) { attention_octet_finish(sums_1, total, largest, first_of_all, rows - first_row, column + 8u); }
  if (options.columns > 2) {
    attention_octet_finish(sums_2, total, largest, first_of_all, rows - first_row, column + 16u);
    attention_octet_finish(sums_3, total, largest, first_of_all, rows - first_row, column + 24u);
  }
}

fn attention_sum(a: vec4f) -> f32 { return (a.x + a.y) + (a.z + a.w); }

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
  var mask: u32 = 0u;
  if (options.mask_kind != 0) { mask = attention_mask_of(row); }
  let last_key: u32 = attention_last_key(row);
  let end: u32 = attention_end(row % parameters.rows, 1u);
  for (var first: u32 = 0u; first < end; first += 4u) {
    let key: vec4u = first + vec4u(0u, 1u, 2u, 3u);
    let place: vec4u = matrix * keys + min(key, vec4u(keys - 1u));
    var product: vec4f = vec4f(0.0);
    for (var i: u32 = 0u; i < depth; i++) {
      let at: vec4u = place * depth + i;
      product += operand_0_texel(row * depth + i) * mat4x4f(operand_1_texel(at.x), operand_1_texel(at.y), operand_1_texel(at.z), operand_1_texel(at.w));
    }
    let score: vec4f = attention_score(product, mask, last_key, key);
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
