// Products of 8-bit integers in octets, four terms at a time. Words are four integers along the sum. Where one operand is
// signed and the other is not, 128 less stands for the unsigned one, and its part of the sums is added at the end.
// options.unsigned_a and options.unsigned_b tell the types.

// Words of four rows and four columns as words of four columns and four rows.
fn dot4_transposed(rows: vec4u) -> vec4u {
  let low: vec2u = (rows.xz & vec2u(0x00ff00ffu)) | ((rows.yw & vec2u(0x00ff00ffu)) << vec2u(8u));
  let high: vec2u = ((rows.xz >> vec2u(8u)) & vec2u(0x00ff00ffu)) | (rows.yw & vec2u(0xff00ff00u));
  return vec4u((low.x & 0xffffu) | (low.y << 16u), (high.x & 0xffffu) | (high.y << 16u),
               (low.x >> 16u) | (low.y & 0xffff0000u), (high.x >> 16u) | (high.y & 0xffff0000u));
}

// The words that are multiplied.
fn dot4_a(word: u32) -> u32 { return select(word, word ^ 0x80808080u, options.unsigned_a == 1 && options.unsigned_b == 0); }

fn dot4_b(words: vec4u) -> vec4u { return select(words, words ^ vec4u(0x80808080u), options.unsigned_a == 0 && options.unsigned_b == 1); }

fn dot4_of(a: u32, b: u32) -> i32 {
  if (options.unsigned_a == 1 && options.unsigned_b == 1) { return i32(dot4U8Packed(a, b)); }
  return dot4I8Packed(a, b);
}

fn dot4_row(a: u32, member: u32, b: vec4u) -> vec4i {
  let row: u32 = subgroupShuffle(a, octet_first + member);
  return vec4i(dot4_of(row, b.x), dot4_of(row, b.y), dot4_of(row, b.z), dot4_of(row, b.w));
}

// octet_add for a word of each row and of four columns.
fn dot4_add(totals: OctetTotals, a: u32, b: vec4u) -> OctetTotals {
  return OctetTotals(totals.a + dot4_row(a, 0u, b), totals.b + dot4_row(a, 1u, b), totals.c + dot4_row(a, 2u, b),
                     totals.d + dot4_row(a, 3u, b), totals.e + dot4_row(a, 4u, b), totals.f + dot4_row(a, 5u, b),
                     totals.g + dot4_row(a, 6u, b), totals.h + dot4_row(a, 7u, b));
}

// What is left out where 128 less stands for an operand: for each column from b's words, for an invocation's row from a's.
fn dot4_rest_of_columns(b: vec4u) -> vec4i {
  if (options.unsigned_a == 0 || options.unsigned_b == 1) { return vec4i(0); }
  return 128 * vec4i(dot4I8Packed(b.x, 0x01010101u), dot4I8Packed(b.y, 0x01010101u), dot4I8Packed(b.z, 0x01010101u),
                     dot4I8Packed(b.w, 0x01010101u));
}

fn dot4_rest_of_row(a: u32) -> i32 {
  if (options.unsigned_a == 1 || options.unsigned_b == 0) { return 0; }
  return 128 * dot4I8Packed(a, 0x01010101u);
}

fn dot4_with_rest(totals: OctetTotals, columns: vec4i, row: i32) -> OctetTotals {
  let rows: vec4i = vec4i(row);
  return OctetTotals(
      totals.a + columns + octet_0(rows), totals.b + columns + octet_1(rows),
      totals.c + columns + octet_2(rows), totals.d + columns + octet_3(rows),
      totals.e + columns + octet_4(rows), totals.f + columns + octet_5(rows),
      totals.g + columns + octet_6(rows), totals.h + columns + octet_7(rows));
}
