// As much of ONNX's protobuf format as it takes to write small models of floats.
const join = (parts) => {
  const all = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};
const varint = (value) => {
  const bytes = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    if (rest < 128n) return Uint8Array.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
};
const integer = (field, value) => join([varint(field << 3), varint(value)]);
const bytes = (field, value) => join([varint((field << 3) | 2), varint(value.length), value]);
const text = (field, value) => bytes(field, new TextEncoder().encode(value));
const float = (field, value) => join([varint((field << 3) | 5), new Uint8Array(Float32Array.of(value).buffer)]);
const bytesOf = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

function attribute(name, value) { // integers, lists of them, and floats as {float: 1e-5}
  if (Array.isArray(value)) return join([text(1, name), ...value.map((each) => integer(8, each)), integer(20, 7)]);
  if (typeof value === 'object') return join([text(1, name), float(2, value.float), integer(20, 1)]);
  return join([text(1, name), integer(3, value), integer(20, 2)]);
}

export const node = (op, inputs, output, attributes = {}, domain = '') => join([
  ...inputs.map((input) => text(1, input)), text(2, output), text(4, op),
  ...Object.entries(attributes).map(([name, value]) => bytes(5, attribute(name, value))), ...(domain ? [text(7, domain)] : []),
]);

const weight = (name, [shape, data]) => join([
  ...shape.map((size) => integer(1, size)), integer(2, data instanceof BigInt64Array ? 7 : 1), text(8, name), bytes(9, bytesOf(data)),
]);
const value = (name, shape) => join([
  text(1, name), bytes(2, bytes(1, join([integer(1, 1), bytes(2, join(shape.map((size) => bytes(1, integer(1, size)))))]))),
]);

// inputs: name -> shape; weights: name -> [shape, elements]
export function onnxModel({ nodes, inputs, output, weights = {} }) {
  const entries = (object, field, write) => Object.entries(object).map(([name, given]) => bytes(field, write(name, given)));
  const graph = join([
    ...nodes.map((each) => bytes(1, each)), text(2, 'workload'), ...entries(weights, 5, weight), ...entries(inputs, 11, value),
    bytes(12, value('out', output)),
  ]);
  const opset = (domain, version) => bytes(8, join([...(domain ? [text(1, domain)] : []), integer(2, version)]));
  return join([integer(1, 8), bytes(7, graph), opset('', 17), opset('com.microsoft', 1)]);
}
