// expect_real_models.mjs MODELS PACKAGES: writes real_models.json, what other runtimes compute with the networks of the
// samples: TF.js on its CPU backend, and onnxruntime on the CPU. MODELS is the folder of the networks (third_party/models
// in a build folder), PACKAGES one in which
//   npm install --ignore-scripts --legacy-peer-deps @tensorflow/tfjs@4.22.0 onnxruntime-node@1.30.0
// was run. real_models_test compares tessera with the file; only a change of the networks asks for a new one.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { picture, portrait, writing } from './pictures.mjs';

const [models, packages] = process.argv.slice(2);
const require = createRequire(join(packages, 'node_modules/'));
const tf = require('@tensorflow/tfjs');
const ort = require('onnxruntime-node');

const rows = [
  { name: 'selfie', file: 'selfie/selfie.json', shape: [1, 256, 256, 3], scale: 1 },
  { name: 'esrgan-slim-x2', file: 'esrgan-slim-x2/model.json', shape: [1, 24, 20, 3], scale: 255 },
  { name: 'ppocr-detector', file: 'ppocr/detector.onnx', shape: [1, 3, 64, 192], scale: 2 },
  { name: 'ppocr-recogniser', file: 'ppocr/recogniser.onnx', shape: [1, 3, 48, 288], scale: 2 },
];

async function runTf(path, x, shape) {
  const json = JSON.parse(readFileSync(path));
  const paths = json.weightsManifest.flatMap((group) => group.paths);
  const weightData = Buffer.concat(paths.map((name) => readFileSync(join(dirname(path), name))));
  const artifacts = {
    modelTopology: json.modelTopology, format: json.format, signature: json.signature,
    weightSpecs: json.weightsManifest.flatMap((group) => group.weights),
    weightData: weightData.buffer.slice(weightData.byteOffset, weightData.byteOffset + weightData.length),
  };
  const handler = tf.io.fromMemory(artifacts);
  const model = json.format === 'layers-model' ? await tf.loadLayersModel(handler) : await tf.loadGraphModel(handler);
  const input = tf.tensor(x, shape);
  const output = json.format === 'layers-model' ? model.predict(input) : model.execute(input);
  return { shape: output.shape, values: await output.data() };
}

async function runOrt(path, x, shape) {
  const session = await ort.InferenceSession.create(path);
  const results = await session.run({ [session.inputNames[0]]: new ort.Tensor('float32', x, shape) });
  const output = results[session.outputNames[0]];
  return { shape: output.dims, values: output.data };
}

await tf.setBackend('cpu');
const expected = [];
for (const { name, file, shape, scale } of rows) {
  const isOnnx = file.endsWith('.onnx');
  const x = picture(shape, !isOnnx, isOnnx ? writing : portrait).map((value) => (isOnnx ? value * scale - 1 : value * scale));
  const output = await (isOnnx ? runOrt : runTf)(join(models, file), x, shape);
  // The largest values, and some that are spread over all of them.
  const ordered = Array.from(output.values.keys()).sort((a, b) => output.values[b] - output.values[a]);
  const places = [...new Set([...Array(48).keys()].flatMap((i) =>
    [ordered[i], Math.floor((i * output.values.length) / 48)]))].sort((a, b) => a - b);
  const values = places.map((place) => Number(output.values[place].toPrecision(7)));
  const least = output.values.reduce((a, b) => Math.min(a, b)), most = output.values.reduce((a, b) => Math.max(a, b));
  console.log(`${name}: ${output.shape} from ${least} to ${most}`);
  expected.push({ name, file, shape, scale, result: output.shape, places, values });
}
const lines = expected.map((row) => `  ${JSON.stringify(row)}`);
writeFileSync(join(dirname(fileURLToPath(import.meta.url)), 'real_models.json'), `[\n${lines.join(',\n')}\n]\n`);
