// onnxruntime, its WebGPU provider or its CPU one, as a peer of compare.mjs. The workloads are ONNX graphs with filters as
// constants; images are NCHW, as ONNX wants them, with the same elements.
//   node ort.mjs PACKAGES MODELS webgpu|cpu
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { node, onnxModel } from './onnx.mjs';
import { keepAnswersClean, serve } from './serve.mjs';
import { colours, gaussian5x5, generated, sizeOf, sobelX, sobelY } from './workloads.mjs';

keepAnswersClean();
const [packages, models, provider] = process.argv.slice(2);
const ort = createRequire(join(packages, 'package.json'))('onnxruntime-node');
const onGpu = provider === 'webgpu' ? { preferredOutputLocation: 'gpu-buffer' } : {};
const plain = { graphOptimizationLevel: 'disabled' };
const open = (model, options = {}) =>
  ort.InferenceSession.create(model, { executionProviders: [provider], intraOpNumThreads: 2, logSeverityLevel: 3, ...options });
const identity = (shape) => onnxModel({ nodes: [node('Identity', ['a'], 'out')], inputs: { a: shape }, output: shape });

const tensor = (shape, seed, shift, scale) => [shape, generated(sizeOf(shape), seed, shift, scale)];
const constant = (values, shape = []) => [shape, Float32Array.from(values)];
// [batch, height, width, channels] to [batch, channels, height, width]
function channelsFirst([[batch, height, width, channels], data]) {
  const turned = new Float32Array(data.length), pixels = height * width;
  for (let b = 0; b < batch; b++)
    for (let p = 0; p < pixels; p++)
      for (let c = 0; c < channels; c++) turned[(b * channels + c) * pixels + p] = data[(b * pixels + p) * channels + c];
  return [[batch, channels, height, width], turned];
}
// [side, side, in, out] to [out, in, side, side]
function filterFirst([[side, , inputs, outputs], data]) {
  const turned = new Float32Array(data.length), places = side * side;
  for (let p = 0; p < places; p++)
    for (let i = 0; i < inputs; i++)
      for (let o = 0; o < outputs; o++) turned[(o * inputs + i) * places + p] = data[(p * inputs + i) * outputs + o];
  return [[outputs, inputs, side, side], turned];
}
// Same padding, as TF.js and tessera count it: what is left over goes to the end.
function samePads(sizes, side, stride) {
  const all = sizes.map((size) => Math.max((Math.ceil(size / stride) - 1) * stride + side - size, 0));
  return [...all.map((pad) => Math.floor(pad / 2)), ...all.map((pad) => Math.ceil(pad / 2))];
}

// nodes, feeds, the shape of the result, weights
function graph(operation, n) {
  switch (operation) {
    case 'ops': {
      const nodes = Array.from({ length: n[0] }, (_, i) =>
        node(i % 2 ? 'Add' : 'Mul', [i ? `x${i}` : 'a', i % 2 ? 'b' : 'factor'], i === n[0] - 1 ? 'out' : `x${i + 1}`));
      const shape = [n[1], n[2]], feeds = { a: tensor(shape, 1) };
      if (n[0] > 1) feeds.b = tensor(shape, 2);
      return [nodes, feeds, shape, { factor: constant([1.01]) }];
    }
    case 'matmul': {
      const [batch, rows, terms, columns, form] = n, front = batch > 1 ? [batch] : [], perm = batch > 1 ? [0, 2, 1] : [1, 0];
      const turnedA = form & 1, turnedB = form & 2, strided = form & 4, nodes = [], weights = {};
      const feeds = {
        a: tensor([...front, ...(turnedA ? [terms, rows] : [rows, strided ? 2 * terms : terms])], 1),
        b: tensor([...front, ...(turnedB ? [columns, terms] : [terms, columns])], 2),
      };
      if (turnedA) nodes.push(node('Transpose', ['a'], 'ta', { perm }));
      if (turnedB) nodes.push(node('Transpose', ['b'], 'tb', { perm }));
      if (strided) {
        nodes.push(node('Slice', ['a', 'begin', 'end', 'axis', 'step'], 'ta'));
        for (const [name, number] of Object.entries({ begin: 0, end: 2 * terms, axis: 1, step: 2 }))
          weights[name] = [[1], BigInt64Array.of(BigInt(number))];
      }
      nodes.push(node('MatMul', [turnedA || strided ? 'ta' : 'a', turnedB ? 'tb' : 'b'], 'out'));
      return [nodes, feeds, [...front, rows, columns], weights];
    }
    case 'softmax':
      return [[node('Softmax', ['a'], 'out', { axis: n[2] })], { a: tensor([n[0], n[1]], 1, -0.5, 8) }, [n[0], n[1]]];
    case 'conv': {
      const [batch, height, width, channels, out, side, stride] = n;
      const pads = samePads([height, width], side, stride);
      const shape = [batch, out, Math.ceil(height / stride), Math.ceil(width / stride)];
      return [[node('Conv', ['a', 'w'], 'out', { pads, kernel_shape: [side, side], strides: [stride, stride] })],
        { a: channelsFirst(tensor([batch, height, width, channels], 1)) }, shape,
        { w: filterFirst(tensor([side, side, channels, out], 2)) }];
    }
    case 'depthwise': {
      const [batch, height, width, channels, side] = n, pads = samePads([height, width], side, 1);
      return [[node('Conv', ['a', 'w'], 'out', { pads, kernel_shape: [side, side], group: channels })],
        { a: channelsFirst(tensor([batch, height, width, channels], 1)) }, [batch, channels, height, width],
        { w: filterFirst(tensor([side, side, 1, channels], 2)) }];
    }
    case 'squaremean': {
      const nodes = [], feeds = {}, means = [];
      for (let i = 0; i < n[0]; i++) {
        feeds[`t${i}`] = tensor([n[1]], 1 + i);
        means.push(`m${i}`);
        nodes.push(node('Mul', [`t${i}`, `t${i}`], `q${i}`), node('ReduceMean', [`q${i}`], `m${i}`, { axes: [0], keepdims: 1 }));
      }
      nodes.push(node('Concat', means, 'all', { axis: 0 }), node('ReduceMean', ['all'], 'out', { axes: [0], keepdims: 1 }));
      return [nodes, feeds, [1]];
    }
    case 'upload':
    case 'updown':
      return [[node('Identity', ['a'], 'out')], { a: tensor([n[0]], 1) }, [n[0]]];
    case 'video': {
      const [width, height] = n, shape = [1, 4, height, width], four = (values) => [values, values, values, values].flat();
      const filter = (input, name, output, side) =>
        node('Conv', [input, name], output, { pads: samePads([height, width], side, 1), kernel_shape: [side, side], group: 4 });
      const turned = Array.from({ length: 16 }, (_, i) => colours[(i % 4) * 4 + Math.floor(i / 4)]);
      return [[filter('a', 'blur', 'smooth', 5), filter('smooth', 'sx', 'x', 3), filter('smooth', 'sy', 'y', 3),
        node('Mul', ['x', 'x'], 'xx'), node('Mul', ['y', 'y'], 'yy'), node('Add', ['xx', 'yy'], 'sum'), node('Sqrt', ['sum'], 'edges'),
        node('Conv', ['edges', 'colour'], 'coloured', { kernel_shape: [1, 1] }), node('Clip', ['coloured', 'low', 'high'], 'out')],
      { a: channelsFirst(tensor([1, height, width, 4], 1, 0)) }, shape,
      { blur: constant(four(gaussian5x5()), [4, 1, 5, 5]), sx: constant(four(sobelX), [4, 1, 3, 3]),
        sy: constant(four(sobelY), [4, 1, 3, 3]),
        colour: constant(turned, [4, 4, 1, 1]), low: constant([0]), high: constant([1]) }];
    }
    case 'mlp':
      return [[node('Gemm', ['a', 'w1', 'b1'], 'g1'), node('Relu', ['g1'], 'h1'),
        node('Gemm', ['h1', 'w2', 'b2'], 'g2'), node('Relu', ['g2'], 'h2'),
        node('Gemm', ['h2', 'w3', 'b3'], 'g3'), node('Softmax', ['g3'], 'out', { axis: -1 })], { a: tensor([n[0], 784], 1) }, [n[0], 10],
      { w1: tensor([784, 512], 2, -0.5, 0.1), b1: tensor([512], 3), w2: tensor([512, 256], 4, -0.5, 0.1), b2: tensor([256], 5),
        w3: tensor([256, 10], 6), b3: tensor([10], 7) }];
    case 'lngelu':
      return [[node('LayerNormalization', ['a', 'gamma', 'beta'], 'normal', { axis: -1, epsilon: { float: 1e-5 } }),
        node('Gelu', ['normal'], 'out', {}, 'com.microsoft')], { a: tensor(n, 1, -0.5, 4) }, n,
      { gamma: tensor([n[1]], 2, 0.5), beta: tensor([n[1]], 3) }];
  }
  throw new Error(`no such operation: ${operation}`);
}

const uploaders = new Map();
async function upload(feed) { // an Identity whose result stays on the device: there is no other way to upload
  if (provider === 'cpu') return feed;
  const shape = [...feed.dims], key = shape.join();
  if (!uploaders.has(key)) uploaders.set(key, await open(identity(shape), { ...onGpu, ...plain }));
  return (await uploaders.get(key).run({ a: feed })).out;
}
let waiting;
async function done() { // one float read behind everything else: runs end before the device does
  if (provider === 'cpu') return;
  waiting ??= { session: await open(identity([1]), plain), input: await upload(new ort.Tensor('float32', [1], [1])) };
  (await waiting.session.run({ a: waiting.input })).out.data;
}

async function make(operation, n) {
  let model, host;
  if (operation === 'model') {
    if (!n[0].endsWith('.onnx')) throw new Error('onnxruntime does not read TF.js models');
    model = join(models, n[0]);
    const { buffer, byteOffset, length } = readFileSync(join(models, n[1]));
    host = { input: [n.slice(2).map(Number), new Float32Array(buffer.slice(byteOffset, byteOffset + length))] };
  } else {
    const [nodes, feeds, output, weights] = graph(operation, n);
    const inputs = Object.fromEntries(Object.entries(feeds).map(([name, [shape]]) => [name, shape]));
    model = onnxModel({ nodes, weights, output, inputs });
    host = feeds;
  }
  const options = operation === 'updown' || operation === 'upload' ? plain : {};
  const reading = await open(model, options), staying = provider === 'cpu' ? reading : await open(model, { ...onGpu, ...options });
  if (operation === 'model') host = { [reading.inputNames[0]]: host.input };
  const output = reading.outputNames[0], feeds = {}, hostFeeds = {};
  for (const [name, [shape, data]] of Object.entries(host)) {
    hostFeeds[name] = new ort.Tensor('float32', data, shape);
    feeds[name] = operation === 'updown' || operation === 'upload' ? hostFeeds[name] : await upload(hostFeeds[name]);
  }
  const result = async () => (await reading.run(hostFeeds))[output].data;
  const run = async () => {
    const results = await staying.run(feeds);
    await done();
    for (const each of Object.values(results)) each.dispose();
  };
  const free = async () => {
    for (const [name, feed] of Object.entries(feeds)) if (feed !== hostFeeds[name]) feed.dispose();
    await reading.release();
    if (staying !== reading) await staying.release();
  };
  return { run: operation === 'updown' ? result : run, result, free };
}

await done();
await serve(`onnxruntime ${ort.env.versions?.node ?? ''}, ${provider}`, make);
