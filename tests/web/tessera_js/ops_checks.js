// Operations against plain JavaScript, errors, disposal, and networks.
import { check, checkOnEach, equal, fails, near, numbers } from './check.js';

const range = (count) => [...Array(count).keys()];

checkOnEach('pointwise work and numbers', async (gpu) => {
  const x = numbers(35), bias = numbers(7, 5);
  const y = gpu.tensor([5, 7], x).mul(2).add(gpu.tensor([7], bias)).relu();
  equal(y.shape, [5, 7]);
  near(await y.read(), [...x].map((value, i) => Math.max(0, Math.fround(value * 2) + bias[i % 7])));
  near(await gpu.ops.sub(1, gpu.tensor([35], x)).read(), [...x].map((value) => 1 - value));
});

checkOnEach('products of matrices', async (gpu) => {
  const [m, k, n] = [5, 9, 6], a = numbers(m * k), b = numbers(k * n, 3);
  const wanted = range(m * n).map((i) => range(k).reduce((sum, j) => sum + a[Math.floor(i / n) * k + j] * b[j * n + (i % n)], 0));
  near(await gpu.tensor([m, k], a).matmul(gpu.tensor([k, n], b)).read(), wanted, 1e-4);
  near(await gpu.tensor([m, k], a).matmul(gpu.tensor([k, n], b).transpose(), { transposeB: true }).read(), wanted, 1e-4);
});

checkOnEach('convolutions and pooling', async (gpu) => {
  const [height, width] = [5, 6], image = numbers(height * width), filter = numbers(9, 7);
  const at = (y, x) => (y < 0 || x < 0 || y >= height || x >= width ? 0 : image[y * width + x]);
  const wanted = range(height * width).map((i) => range(9).reduce((sum, k) =>
    sum + at(Math.floor(i / width) + Math.floor(k / 3) - 1, (i % width) + (k % 3) - 1) * filter[k], 0));
  const input = gpu.tensor([1, height, width, 1], image);
  near(await input.conv2d(gpu.tensor([3, 3, 1, 1], filter), { padding: 'same' }).read(), wanted, 1e-4);
  const pooled = input.maxPool({ size: [2, 2] });
  equal(pooled.shape, [1, 2, 3, 1]);
  near(await pooled.read(), range(6).map((i) => {
    const [y, x] = [2 * Math.floor(i / 3), 2 * (i % 3)];
    return Math.max(at(y, x), at(y, x + 1), at(y + 1, x), at(y + 1, x + 1));
  }));
});

checkOnEach('reductions, rows and types', async (gpu) => {
  const x = numbers(12), rows = gpu.tensor([3, 4], x);
  near(await rows.sum({ axes: [1] }).read(), range(3).map((i) => x.slice(4 * i, 4 * i + 4).reduce((a, b) => a + b)));
  near(await rows.softmax().read(), [...x].map((value, i) => {
    const row = [...x.slice(4 * Math.floor(i / 4), 4 * Math.floor(i / 4) + 4)];
    return Math.exp(value) / row.reduce((sum, other) => sum + Math.exp(other), 0);
  }));
  const best = rows.argmax();
  equal(best.dtype, 'i32');
  equal(await best.read(), Int32Array.from(range(3), (i) => { const row = x.slice(4 * i, 4 * i + 4); return row.indexOf(Math.max(...row)); }));
  equal(await rows.greater(0).read(), Uint8Array.from(x, (value) => (value > 0 ? 1 : 0)));
  equal(await gpu.tensor([3], new Uint8Array([1, 2, 255])).toFloat().mul(255).cast({ dtype: 'i32' }).read(), new Int32Array([1, 2, 255]));
  near(await gpu.tensor([2], [0.5, 1.25], 'f16').read(), [0.5, 1.25]);
});

checkOnEach('joins, parts and several results', async (gpu) => {
  const a = gpu.tensor([2, 2], [1, 2, 3, 4]), b = gpu.full([2, 1], 9);
  equal(await gpu.ops.concat([a, b], { axis: 1 }).read(), new Float32Array([1, 2, 9, 3, 4, 9]));
  const [left, right] = a.split({ parts: 2, axis: 1 });
  equal([...await left.read(), ...await right.read()], [1, 3, 2, 4]);
  const [values, indices] = gpu.tensor([4], [3, 1, 4, 1]).topK({ k: 2 });
  equal([...await values.read(), ...await indices.read()], [4, 3, 2, 0]);
  equal(await a.slice({ begin: [1, 0], size: [1, -1] }).read(), new Float32Array([3, 4]));
  equal(await a.pad({ padding: [[0, 0], [1, 0]], mode: 'edge' }).read(), new Float32Array([1, 1, 2, 3, 3, 4]));
});

checkOnEach('several reads at once', async (gpu) => {
  const all = await Promise.all(range(5).map((i) => gpu.full([4], i).square().read()));
  equal(all.map((values) => values[3]), [0, 1, 4, 9, 16]);
});

checkOnEach('errors', async (gpu) => {
  const x = gpu.zeros([2, 3]);
  await fails('shape_mismatch', () => x.matmul(gpu.zeros([2, 3])));
  await fails('invalid_argument', () => x.clip({ low: 0 }));
  await fails('invalid_argument', () => x.pad({ padding: [[0, 0], [0, 0]], mode: 'mirror' }));
  await fails('invalid_argument', () => x.reshape({ shape: [2, 'a'] }));
  x.dispose();
  await fails('invalid_argument', () => x.relu());
  equal(await gpu.full([2], 3).read(), new Float32Array([3, 3])); // and the context works on
});

checkOnEach('disposed tensors free their memory', async (gpu) => {
  const before = gpu.memory().tensors;
  const x = gpu.full([1000], 2).square().compute();
  equal(gpu.memory().tensors, before + 1);
  x.dispose();
  x.dispose();
  equal(gpu.memory().tensors, before);
});

checkOnEach('a TF.js model from an address', async (gpu) => {
  const model = await gpu.loadModel('tiny/model.json');
  equal(model.inputs.map(({ name, shape }) => [name, shape]), [['x', [2, 3]]]);
  const weights = new Float32Array(new TextEncoder().encode('@@@@AAAABBBB').buffer), x = new Float32Array([-20, -20, -20, 1, 2, 3]);
  const { [model.outputs[0].name]: y } = model.run(gpu.tensor([2, 3], x));
  near(await y.read(), [...x].map((value, i) => Math.max(0, value + weights[i % 3])));
  model.dispose();
  await fails('not_found', () => gpu.loadModel('tiny/nothing.onnx'));
});

check('the types name each operation', async () => {
  const { createContext } = await import('tessera');
  const types = await (await fetch('../package/tessera.d.ts')).text();
  const [, list] = types.match(/interface TensorOps \{([^]*?)\n\}/);
  const declared = [...list.matchAll(/^  (\w+)\(/gm)].map(([, name]) => name).sort();
  const gpu = await createContext({ backends: ['cpu'] });
  equal(declared, Object.keys(gpu.ops).sort());
  gpu.close();
});
