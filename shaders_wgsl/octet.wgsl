// Products of matrices in octets. Each invocation makes the totals of eight rows by four columns of its own, and reads
// one of the eight rows for all of its octet.

// The place of an invocation's first total. A tile has parameters.lanes invocations side by side, and as many below each
// other as there are left of a workgroup.
struct OctetPlace { matrix: u32, row: u32, column: u32 }
fn octet_place(group: u32, local: u32) -> OctetPlace {
  let lanes: u32 = parameters.lanes;
  let stripes: u32 = parameters.row_stripes;
  let row: u32 = (group % stripes * (workgroup_size / lanes) + local / lanes) * 8u * u32(options.octets);
  let column: u32 = (group / stripes % parameters.column_stripes * lanes + local % lanes) * 4u;
  return OctetPlace(group / (stripes * parameters.column_stripes), row, column);
}

fn octet_value(value: core_vector, member: u32) -> core_vector { return subgroupShuffle(value, octet_first + member); }

// octet_value of each member, by which drivers find it sooner where an octet is all of a subgroup.
fn octet_0(v: core_vector) -> core_vector { if (subgroups_are_octets) { return subgroupBroadcast(v, 0u); } return octet_value(v, 0u); }
fn octet_1(v: core_vector) -> core_vector { if (subgroups_are_octets) { return subgroupBroadcast(v, 1u); } return octet_value(v, 1u); }
fn octet_2(v: core_vector) -> core_vector { if (subgroups_are_octets) { return subgroupBroadcast(v, 2u); } return octet_value(v, 2u); }
fn octet_3(v: core_vector) -> core_vector { if (subgroups_are_octets) { return subgroupBroadcast(v, 3u); } return octet_value(v, 3u); }
fn octet_4(v: core_vector) -> core_vector { if (subgroups_are_octets) { return subgroupBroadcast(v, 4u); } return octet_value(v, 4u); }
fn octet_5(v: core_vector) -> core_vector { if (subgroups_are_octets) { return subgroupBroadcast(v, 5u); } return octet_value(v, 5u); }
fn octet_6(v: core_vector) -> core_vector { if (subgroups_are_octets) { return subgroupBroadcast(v, 6u); } return octet_value(v, 6u); }
fn octet_7(v: core_vector) -> core_vector { if (subgroups_are_octets) { return subgroupBroadcast(v, 7u); } return octet_value(v, 7u); }

// Four elements of a row times four rows of the second matrix.
fn octet_sum(row: core_vector, x: core_vector, y: core_vector, z: core_vector, w: core_vector) -> core_vector {
  return row.x * x + row.y * y + row.z * z + row.w * w;
}

fn octet_add(totals: OctetTotals, row: core_vector, x: core_vector, y: core_vector, z: core_vector, w: core_vector) -> OctetTotals {
  return OctetTotals(
      totals.a + octet_sum(octet_0(row), x, y, z, w), totals.b + octet_sum(octet_1(row), x, y, z, w),
      totals.c + octet_sum(octet_2(row), x, y, z, w), totals.d + octet_sum(octet_3(row), x, y, z, w),
      totals.e + octet_sum(octet_4(row), x, y, z, w), totals.f + octet_sum(octet_5(row), x, y, z, w),
      totals.g + octet_sum(octet_6(row), x, y, z, w), totals.h + octet_sum(octet_7(row), x, y, z, w));
}

// octet_add for one element of each row, which is in every component, and one row of the second matrix.
fn octet_add_one(totals: OctetTotals, row: core_vector, x: core_vector) -> OctetTotals {
  return OctetTotals(totals.a + octet_0(row) * x, totals.b + octet_1(row) * x,
                     totals.c + octet_2(row) * x, totals.d + octet_3(row) * x,
                     totals.e + octet_4(row) * x, totals.f + octet_5(row) * x,
                     totals.g + octet_6(row) * x, totals.h + octet_7(row) * x);
}

// The totals of eight rows: written out, since not every driver keeps the elements of an array in registers.
// octet_finish stores the first `rows` of them, `apart` texels from one to the next. Compilers write out its loop where
// little work follows; else it keeps the text short.
struct OctetTotals {
  a: core_vector, b: core_vector, c: core_vector, d: core_vector,
  e: core_vector, f: core_vector, g: core_vector, h: core_vector,
}
fn octet_finish(totals: OctetTotals, first_texel: u32, apart: u32, rows: u32) {
  var values = array<core_vector, 8>(totals.a, totals.b, totals.c, totals.d, totals.e, totals.f, totals.g, totals.h);
  for (var i: u32 = 0u; i < 8u; i++) {
    if (i < rows) {
      texel = first_texel + i * apart;
      finish(values[i]);
    }
  }
}
