// matmul_4bit: products with weights of 4 bits, unpacked where they are read. core/kernel/matmul_parameters.h has the
// parameters and options. Eight weights, an octet, are a texel; so are four numbers of a.

// Eight numbers of a row of a, apart by the places of their weights in bytes.
struct Matmul4BitNumbers { lower: vec4f, upper: vec4f }
fn matmul_4bit_numbers(at: u32) -> Matmul4BitNumbers {
  let x: vec4f = operand_0_texel(2u * at);
  let y: vec4f = operand_0_texel(2u * at + 1u);
  return Matmul4BitNumbers(vec4f(x.xz, y.xz), vec4f(x.yw, y.yw));
}

// Eight weights of a column less their zero point, likewise.
fn matmul_4bit_weights(at: u32, zero: f32) -> Matmul4BitNumbers {
  let pairs: vec4i = operand_1_texel(at);
  return Matmul4BitNumbers(vec4f(pairs & vec4i(15)) - vec4f(zero), vec4f(pairs >> vec4u(4u)) - vec4f(zero));
}

fn matmul_4bit_sum(a: Matmul4BitNumbers, b: Matmul4BitNumbers) -> f32 { return dot(a.lower, b.lower) + dot(a.upper, b.upper); }

fn matmul_4bit_texels(element: vec4u) -> vec4f {
  let columns: u32 = parameters.columns;
  let groups: u32 = parameters.groups;
  let octets: u32 = parameters.octets;
  let row: vec4u = element / columns * (groups * octets);
  let column: vec4u = element % columns;
  var total: vec4f = vec4f(0.0);
  for (var group: u32 = 0u; group < groups; group++) {
    let zero: vec4f = vec4f(operand_3(column * groups + group));
    let weight: vec4u = (column * groups + group) * octets;
    var sum: vec4f = vec4f(0.0);
    for (var i: u32 = 0u; i < octets; i++) {
      let at: u32 = group * octets + i;
      let x: Matmul4BitNumbers = matmul_4bit_numbers(row.x + at);
      var y: Matmul4BitNumbers = x;
      var z: Matmul4BitNumbers = x;
      var w: Matmul4BitNumbers = x;
      if (options.in_one_row == 0) {
        y = matmul_4bit_numbers(row.y + at);
        z = matmul_4bit_numbers(row.z + at);
        w = matmul_4bit_numbers(row.w + at);
      }
      sum += vec4f(matmul_4bit_sum(x, matmul_4bit_weights(weight.x + i, zero.x)), matmul_4bit_sum(y, matmul_4bit_weights(weight.y + i, zero.y)),
                   matmul_4bit_sum(z, matmul_4bit_weights(weight.z + i, zero.z)), matmul_4bit_sum(w, matmul_4bit_weights(weight.w + i, zero.w)));
    }
    total += sum * operand_2(column * groups + group);
  }
  return total;
}

// Of four columns.
struct Matmul4BitColumns { x: Matmul4BitNumbers, y: Matmul4BitNumbers, z: Matmul4BitNumbers, w: Matmul4BitNumbers }
fn matmul_4bit_row(a: Matmul4BitNumbers, b: Matmul4BitColumns) -> vec4f {
  return vec4f(matmul_4bit_sum(a, b.x), matmul_4bit_sum(a, b.y), matmul_4bit_sum(a, b.z), matmul_4bit_sum(a, b.w));
}

// An invocation makes a texel of each of four rows, past the last row that row again.
fn matmul_4bit_rows(group_of_invocations: u32, local: u32) {
  let groups: u32 = parameters.groups;
  let octets: u32 = parameters.octets;
  let rows: u32 = parameters.rows;
  let texels: u32 = parameters.columns / 4u;
  let unit: u32 = group_of_invocations * workgroup_size + local;
  let first_row: u32 = unit / texels * 4u;
  if (first_row >= rows) { return; }
  let column: vec4u = 4u * (unit % texels) + vec4u(0u, 1u, 2u, 3u);
  let row: vec4u = min(first_row + vec4u(0u, 1u, 2u, 3u), vec4u(rows - 1u));
  var totals: mat4x4f = mat4x4f();
  for (var group: u32 = 0u; group < groups; group++) {
    let zero: vec4f = vec4f(operand_3(column * groups + group));
    let weight: vec4u = (column * groups + group) * octets;
    var sums: mat4x4f = mat4x4f();
    for (var i: u32 = 0u; i < octets; i++) {
      let at: vec4u = row * (groups * octets) + (group * octets + i);
      let weights: Matmul4BitColumns = Matmul4BitColumns(
          matmul_4bit_weights(weight.x + i, zero.x), matmul_4bit_weights(weight.y + i, zero.y),
          matmul_4bit_weights(weight.z + i, zero.z), matmul_4bit_weights(weight.w + i, zero.w));
      sums += mat4x4f(matmul_4bit_row(matmul_4bit_numbers(at.x), weights), matmul_4bit_row(matmul_4bit_numbers(at.y), weights),
                      matmul_4bit_row(matmul_4bit_numbers(at.z), weights), matmul_4bit_row(matmul_4bit_numbers(at.w), weights));
    }
    let scale: vec4f = operand_2(column * groups + group);
    totals += mat4x4f(sums[0] * scale, sums[1] * scale, sums[2] * scale, sums[3] * scale);
  }
  for (var i: u32 = 0u; i < 4u; i++) {
    if (first_row + i < rows) {
      texel = (first_row + i) * texels + unit % texels;
      finish(totals[i]);
    }
  }
}

// Eight numbers of a row each, in two texels, times eight weights of four columns.
fn matmul_4bit_octet_add(totals: OctetTotals, at: u32, lower: mat4x4f, upper: mat4x4f) -> OctetTotals {
  let begun: OctetTotals = octet_add(totals, operand_0_texel(2u * at), lower[0], upper[0], lower[1], upper[1]);
  return octet_add(begun, operand_0_texel(2u * at + 1u), lower[2], upper[2], lower[3], upper[3]);
}

// matmul_4bit_octets: products in octets. Each member unpacks the weights of four columns for eight or sixteen rows.
fn matmul_4bit_octets(group_of_invocations: u32, local: u32) {
  let place: OctetPlace = octet_place(group_of_invocations, local);
  let columns: u32 = parameters.columns;
  let rows: u32 = parameters.rows;
  let groups: u32 = parameters.groups;
  let octets: u32 = parameters.octets_of_group;
  let column: vec4u = min(place.column, columns - 4u) + vec4u(0u, 1u, 2u, 3u);
  let x: u32 = min(place.row + local % 8u, rows - 1u) * (groups * octets);
  let y: u32 = min(place.row + 8u + local % 8u, rows - 1u) * (groups * octets);
  var first: OctetTotals = OctetTotals();
  var second: OctetTotals = OctetTotals();
  for (var group: u32 = 0u; group < groups; group++) {
    let zero: vec4f = vec4f(operand_3(column * groups + group));
    let scale: vec4f = operand_2(column * groups + group);
    let weight: vec4u = (column * groups + group) * octets;
    for (var i: u32 = 0u; i < octets; i++) {
      let a: Matmul4BitNumbers = matmul_4bit_weights(weight.x + i, zero.x);
      let b: Matmul4BitNumbers = matmul_4bit_weights(weight.y + i, zero.y);
      let c: Matmul4BitNumbers = matmul_4bit_weights(weight.z + i, zero.z);
      let d: Matmul4BitNumbers = matmul_4bit_weights(weight.w + i, zero.w);
      let lower: mat4x4f = transpose(mat4x4f(a.lower * scale.x, b.lower * scale.y, c.lower * scale.z, d.lower * scale.w));
      let upper: mat4x4f = transpose(mat4x4f(a.upper * scale.x, b.upper * scale.y, c.upper * scale.z, d.upper * scale.w));
      first = matmul_4bit_octet_add(first, x + group * octets + i, lower, upper);
      if (options.octets == 2) { second = matmul_4bit_octet_add(second, y + group * octets + i, lower, upper); }
    }
  }
  if (group_of_invocations >= parameters.tiles || place.column >= columns || place.row >= rows) { return; }
  let first_texel: u32 = (place.row * columns + place.column) / 4u;
  octet_finish(first, first_texel, columns / 4u, rows - place.row);
  if (options.octets == 2 && place.row + 8u < rows) {
    octet_finish(second, first_texel + 2u * columns, columns / 4u, rows - place.row - 8u);
  }
}
