// The workloads in TF.js, for any of its backends. Inputs, filters and numbers are made once, as tensors on the device.
import { colours, gaussian5x5, generated, sizeOf, sobelX, sobelY } from './workloads.mjs';

// device: {upload(tensor), done(tensor)}: done waits until the device has computed the tensor. loadBytes(file) has the
// ArrayBuffer of a file in the folder of the networks.
export function tfjsWorkloads(tf, device, loadBytes) {
  const loadModel = (file) => loadTfjsModel(tf, loadBytes, file);
  return async (operation, n) => {
    const kept = [], models = [];
    const keep = (tensor) => (kept.push(tensor), device.upload(tensor), tensor);
    const tensor = (shape, seed, shift, scale) => keep(tf.tensor(generated(sizeOf(shape), seed, shift, scale), shape));
    const free = () => {
      tf.dispose(kept);
      for (const model of models) model.dispose();
    };
    const build = await expression(operation, n, { tf, device, keep, tensor, models, loadModel, loadBytes });
    const once = () => tf.tidy(build);
    const result = async () => {
      const y = once(), values = await y.data();
      y.dispose();
      return values;
    };
    const run = async () => {
      const y = once();
      await device.done(y);
      y.dispose();
    };
    return { run: operation === 'updown' ? result : run, result, free };
  };
}

async function loadTfjsModel(tf, loadBytes, file) {
  const folder = file.slice(0, file.lastIndexOf('/') + 1);
  const model = JSON.parse(new TextDecoder().decode(await loadBytes(file))), { weightsManifest: groups } = model;
  const weightData = await Promise.all(groups.flatMap((group) => group.paths).map((path) => loadBytes(folder + path)));
  const handler = { load: async () => ({ ...model, weightData, weightSpecs: groups.flatMap((group) => group.weights) }) };
  return model.format === 'layers-model' ? tf.loadLayersModel(handler) : tf.loadGraphModel(handler);
}

async function expression(operation, n, { tf, device, keep, tensor, models, loadModel, loadBytes }) {
  const number = (value) => keep(tf.scalar(value));
  switch (operation) {
    case 'ops': {
      const a = tensor([n[1], n[2]], 1), b = tensor([n[1], n[2]], 2), factor = number(1.01);
      return () => {
        let x = a;
        for (let i = 0; i < n[0]; i++) x = i % 2 ? tf.add(x, b) : tf.mul(x, factor);
        return x;
      };
    }
    case 'matmul': {
      const [batch, rows, terms, columns, form] = n, front = batch > 1 ? [batch] : [];
      const turnedA = !!(form & 1), turnedB = !!(form & 2), strided = !!(form & 4);
      const a = tensor([...front, ...(turnedA ? [terms, rows] : [rows, strided ? 2 * terms : terms])], 1);
      const b = tensor([...front, ...(turnedB ? [columns, terms] : [terms, columns])], 2);
      if (strided) return () => tf.matMul(tf.stridedSlice(a, [0, 0], [rows, 2 * terms], [1, 2]), b);
      return () => tf.matMul(a, b, turnedA, turnedB);
    }
    case 'softmax': {
      const x = tensor([n[0], n[1]], 1, -0.5, 8);
      if (n[2] === 0) return () => tf.transpose(tf.softmax(tf.transpose(x))); // it knows the last axis only
      return () => tf.softmax(x);
    }
    case 'conv': {
      const x = tensor(n.slice(0, 4), 1), filter = tensor([n[5], n[5], n[3], n[4]], 2);
      return () => tf.conv2d(x, filter, n[6], 'same');
    }
    case 'depthwise': {
      const x = tensor(n.slice(0, 4), 1), filter = tensor([n[4], n[4], n[3], 1], 2);
      return () => tf.depthwiseConv2d(x, filter, 1, 'same');
    }
    case 'squaremean': { // addN of ten tensors asks for more buffers than TF.js asks the device for
      const all = Array.from({ length: n[0] }, (_, i) => tensor([n[1]], 1 + i)), part = number(1 / n[0]);
      return () => tf.mul(all.map((x) => tf.mean(tf.square(x))).reduce((a, b) => tf.add(a, b)), part);
    }
    case 'upload':
    case 'updown': {
      const host = generated(n[0], 1);
      return () => {
        const x = tf.tensor1d(host);
        device.upload(x);
        return x;
      };
    }
    case 'video': {
      const [width, height] = n, frame = tensor([1, height, width, 4], 1, 0);
      const depthwise = (values, side) => keep(tf.tensor(values.flatMap((v) => [v, v, v, v]), [side, side, 4, 1]));
      const blur = depthwise(gaussian5x5(), 5), x = depthwise(sobelX, 3), y = depthwise(sobelY, 3);
      const colour = keep(tf.tensor(colours, [1, 1, 4, 4]));
      return () => {
        const smooth = tf.depthwiseConv2d(frame, blur, 1, 'same');
        const along = (filter) => tf.square(tf.depthwiseConv2d(smooth, filter, 1, 'same'));
        return tf.clipByValue(tf.conv2d(tf.sqrt(tf.add(along(x), along(y))), colour, 1, 'same'), 0, 1);
      };
    }
    case 'mlp': {
      const x = tensor([n[0], 784], 1), w1 = tensor([784, 512], 2, -0.5, 0.1), b1 = tensor([512], 3);
      const w2 = tensor([512, 256], 4, -0.5, 0.1), b2 = tensor([256], 5), w3 = tensor([256, 10], 6), b3 = tensor([10], 7);
      const dense = (a, b, bias, activation) => tf.fused.matMul({ a, b, bias, activation });
      return () => tf.softmax(dense(dense(dense(x, w1, b1, 'relu'), w2, b2, 'relu'), w3, b3, 'linear'));
    }
    case 'lngelu': {
      const x = tensor(n, 1, -0.5, 4), gamma = tensor([n[1]], 2, 0.5), beta = tensor([n[1]], 3);
      const [epsilon, half, one, root] = [1e-5, 0.5, 1, Math.SQRT1_2].map(number);
      return () => {
        const { mean, variance } = tf.moments(x, 1, true);
        const normal = tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, epsilon)));
        const y = tf.add(tf.mul(normal, gamma), beta);
        return tf.mul(tf.mul(y, half), tf.add(tf.erf(tf.mul(y, root)), one));
      };
    }
    case 'model': {
      const [file, input, ...sizes] = n;
      if (!file.endsWith('.json')) throw new Error('TF.js does not read ONNX');
      const model = await loadModel(file), x = keep(tf.tensor(new Float32Array(await loadBytes(input)), sizes.map(Number)));
      models.push(model);
      return () => model.predict(x);
    }
  }
  throw new Error(`no such operation: ${operation}`);
}
