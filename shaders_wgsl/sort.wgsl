// sort: rows sorted by merging, as pairs of a key and its index. core/kernel/sort_parameters.h has the
// parameters and options. Rows and blocks are whole texels, so that the four elements of a texel share theirs.

// The places in x of a padded row's elements; past the end of the row, its last one.
fn sort_source(element: vec4u) -> vec4u {
  let row: u32 = element.x / parameters.stride;
  let inner: u32 = parameters.inner;
  let along: vec4u = min(element % parameters.stride, vec4u(parameters.count - 1u));
  return ((row / inner) * parameters.count + along) * inner + row % inner;
}

// Keys in the order wanted; padding comes last, since equal keys keep their order.
fn sort_keys(element: vec4u) -> vec4i {
  var key: vec4i = bitcast<vec4i>(operand_0(sort_source(element)));
  if (options.is_float == 1) { key = order_of(key); }
  let is_inside: vec4<bool> = lti(vec4i(element % parameters.stride), vec4i(i32(parameters.count)));
  return picki(is_inside, key ^ vec4i(parameters.turned_bits), vec4i(0x7fffffff));
}

// 1 for each of the others that a key comes before.
fn sort_is_before(key: i32, index: u32, others: vec4i, other_indices: vec4i) -> vec4i {
  let is_first: vec4<bool> = both(eqi(vec4i(key), others), lti(vec4i(i32(index)), other_indices));
  return vec4i(either(lti(vec4i(key), others), is_first));
}

fn sort_ranks(element: vec4u) -> vec4i {
  let stride: u32 = parameters.stride;
  let own: vec4i = operand_0_texel(element.x / 4u);
  let own_index: vec4i = vec4i(element % stride);
  let first_texel: u32 = (element.x - element.x % stride) / 4u;
  let begin: u32 = (element.x % stride) / parameters.length * parameters.length;
  let end: u32 = min(begin + parameters.length, stride);
  var rank: vec4i = vec4i(0);
  for (var index: u32 = begin; index < end; index += 4u) {
    let keys: vec4i = operand_0_texel(first_texel + index / 4u);
    rank += sort_is_before(keys.x, index, own, own_index);
    rank += sort_is_before(keys.y, index + 1u, own, own_index);
    rank += sort_is_before(keys.z, index + 2u, own, own_index);
    rank += sort_is_before(keys.w, index + 3u, own, own_index);
  }
  return rank;
}

// The places of a texel's two pairs in their block, each twice.
fn sort_places(element: vec4u, kept: u32) -> vec4i { return vec4i((element % (2u * kept)) / 2u); }

fn sort_blocks(element: vec4u) -> vec4i {
  let stride: u32 = parameters.stride;
  let place: vec4i = sort_places(element, parameters.kept);
  let block: u32 = element.x / (2u * parameters.kept);
  let row: u32 = (block / parameters.blocks) * stride;
  let begin: u32 = (block % parameters.blocks) * parameters.length;
  let end: u32 = min(begin + parameters.length, stride);
  var index: vec4i = vec4i(0);
  for (var i: u32 = begin; i < end; i += 4u) {
    let ranks: vec4i = operand_0_texel((row + i) / 4u);
    index = picki(eqi(vec4i(ranks.x), place), vec4i(i32(i)), index);
    index = picki(eqi(vec4i(ranks.y), place), vec4i(i32(i + 1u)), index);
    index = picki(eqi(vec4i(ranks.z), place), vec4i(i32(i + 2u)), index);
    index = picki(eqi(vec4i(ranks.w), place), vec4i(i32(i + 3u)), index);
  }
  let keys: vec4i = operand_1(vec4u(index) + row);
  return vec4i(keys.x, index.y, keys.z, index.w);
}

// The number of pairs that a block holds; 0 past the end of the row.
fn sort_block_size(block: u32) -> i32 {
  let begin: u32 = min(block * parameters.length, parameters.stride);
  return i32(min(parameters.kept, parameters.stride - begin));
}

// Two blocks to be merged. The left one is full where there are pairs in the right one: they lie side by side.
struct SortTwo { left: i32, right: i32, left_size: i32, right_size: i32 }
fn sort_two(merged: u32) -> SortTwo {
  let block: u32 = 2u * (merged % parameters.blocks_after);
  let left: u32 = ((merged / parameters.blocks_after) * parameters.blocks + block) * parameters.kept;
  return SortTwo(i32(left), i32(left + parameters.kept), sort_block_size(block), sort_block_size(block + 1u));
}

// A key and its index.
fn sort_pair(at: i32) -> vec2i {
  let two: vec4i = operand_0_texel(u32(at) / 2u);
  return select(two.xy, two.zw, at % 2 == 1);
}

// How many of the pairs before a place of two blocks merged are from the left one, by a binary search from `least` to
// `most`: a pair of the left one goes first where keys are equal.
fn sort_left_before(two: SortTwo, place: i32, least: i32, most: i32) -> i32 {
  var low: i32 = max(least, place - two.right_size);
  var high: i32 = min(most, two.left_size);
  while (low < high) {
    let middle: i32 = (low + high) / 2;
    if (sort_pair(two.left + middle).x <= sort_pair(two.right + (place - 1 - middle)).x) { low = middle + 1; }
    else { high = middle; }
  }
  return low;
}

fn sort_split(at: u32) -> i32 {
  let two: SortTwo = sort_two(at / parameters.runs);
  let place: i32 = min(i32(at % parameters.runs * parameters.run), two.left_size + two.right_size);
  return sort_left_before(two, place, 0, place);
}

// The number of pairs from the left block before every run of pairs of two blocks merged.
fn sort_splits(element: vec4u) -> vec4i {
  return vec4i(sort_split(element.x), sort_split(element.y), sort_split(element.z), sort_split(element.w));
}

// Pairs of two blocks in their order, one after the other.
struct SortCursor { from_left: i32, from_right: i32, left: vec2i, right: vec2i }
fn sort_cursor(two: SortTwo, place: i32, from_left: i32) -> SortCursor {
  let from_right: i32 = place - from_left;
  let last: i32 = two.left + two.left_size + two.right_size - 1;
  return SortCursor(from_left, from_right, sort_pair(min(two.left + from_left, last)), sort_pair(min(two.right + from_right, last)));
}
fn sort_takes_left(two: SortTwo, at: SortCursor) -> bool {
  return at.from_left < two.left_size && (at.from_right >= two.right_size || at.left.x <= at.right.x);
}
fn sort_next(two: SortTwo, at: SortCursor) -> SortCursor {
  let last: i32 = two.left + two.left_size + two.right_size - 1;
  if (sort_takes_left(two, at)) {
    return SortCursor(at.from_left + 1, at.from_right, sort_pair(min(two.left + at.from_left + 1, last)), at.right);
  }
  return SortCursor(at.from_left, at.from_right + 1, at.left, sort_pair(min(two.right + at.from_right + 1, last)));
}
fn sort_taken_pair(two: SortTwo, at: SortCursor) -> vec2i { return select(at.right, at.left, sort_takes_left(two, at)); }

// The two pairs of a texel, from the split before their run.
fn sort_merge(element: vec4u) -> vec4i {
  let merged: u32 = element.x / (2u * parameters.kept_after);
  let two: SortTwo = sort_two(merged);
  let place: i32 = min(sort_places(element, parameters.kept_after).x, two.left_size + two.right_size - 2);
  let run: u32 = u32(place) / parameters.run;
  let split: i32 = operand_1(vec4u(merged * parameters.runs + run)).x;
  let first: SortCursor = sort_cursor(two, place, sort_left_before(two, place, split, split + place % i32(parameters.run)));
  return vec4i(sort_taken_pair(two, first), sort_taken_pair(two, sort_next(two, first)));
}

// An invocation makes a run of pairs; past the last one there are zeros.
fn sort_merge_runs(group_of_invocations: u32, local: u32) {
  let at: u32 = group_of_invocations * workgroup_size + local;
  if (at >= parameters.all_runs) { return; }
  let merged: u32 = at / parameters.runs;
  let two: SortTwo = sort_two(merged);
  let begin: i32 = i32(at % parameters.runs * parameters.run);
  let end: i32 = min(begin + i32(parameters.run), i32(parameters.kept_after));
  let size: i32 = two.left_size + two.right_size;
  var next: SortCursor = sort_cursor(two, min(begin, size), sort_split(at));
  for (var place: i32 = begin; place < end; place += 2) {
    texel = (merged * parameters.kept_after + u32(place)) / 2u;
    if (place >= size) {
      finish(vec4i(0));
    } else {
      let first: vec2i = sort_taken_pair(two, next);
      next = sort_next(two, next);
      finish(vec4i(first, sort_taken_pair(two, next)));
      next = sort_next(two, next);
    }
  }
}

// The places in x of the result's elements.
fn sort_taken(element: vec4u, index: vec4u) -> vec4u {
  let inner: u32 = parameters.inner;
  return ((element / (parameters.wanted * inner)) * parameters.count + index) * inner + element % inner;
}

// The places among the pairs of the result's indices.
fn sort_taken_index(element: vec4u) -> vec4u {
  let inner: u32 = parameters.inner;
  let row: vec4u = (element / (parameters.wanted * inner)) * inner + element % inner;
  return 2u * (row * parameters.kept + (element / inner) % parameters.wanted) + 1u;
}

fn sort_take(element: vec4u) -> core_vector { return operand_0(sort_taken(element, vec4u(operand_1(sort_taken_index(element))))); }
