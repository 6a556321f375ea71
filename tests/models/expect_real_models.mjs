// expect_real_models.mjs MODELS PACKAGES: writes real_models.json, what other runtimes compute with the networks of the
// samples: TF.js on its CPU backend, and onnxruntime on the CPU. MODELS is the folder of the networks (third_party/models
// in a build folder), PACKAGES one in which
//   npm install --ignore-scripts --legacy-peer-deps @tensorflow/tfjs@4.22.0 onnxruntime-node@1.30.0
// was run. real_models_test compares tessera with the file; only a change of the networks asks for a new one.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [models, packages] = process.argv.slice(2);
const require = createRequire(join(packages, 'node_modules/'));
const tf = require('@tensorflow/tfjs');
const ort = require('onnxruntime-node');

// The same numbers as in real_models_test.cpp: what pixel (x,y) of three channels is. A head and shoulders before a wall:
function portrait(x, y, width, height, c) {
  const u = (x / width) * 256 - 128, v = (y / height) * 256;
  const inEllipse = (row, a, b, column = 0) => ((u - column) / a) ** 2 + ((v - row) / b) ** 2 < 1;
  if (inEllipse(104, 4, 4, -14) || inEllipse(104, 4, 4, 14) || inEllipse(134, 10, 3)) return [0.4, 0.2, 0.15][c];
  if (inEllipse(108, 36, 48) && v > 78) return [0.88, 0.69, 0.56][c];
  if (inEllipse(95, 46, 58)) return [0.23, 0.16, 0.13][c];
  if (inEllipse(256, 90, 76) && v > 180) return [0.18, 0.27, 0.41][c];
  if (Math.abs(u) < 16 && v > 100 && v < 200) return [0.85, 0.66, 0.53][c];
  return [0.72, 0.77, 0.81][c] - (v / 256) * 0.16;
}

// And dark letters on white, in squares of a 48th of the width.
const letters = [
  '#####.#####..####..####.#####.####...###.',
  '..#...#.....#.....#.....#.....#...#.#...#',
  '..#...#.....#.....#.....#.....#...#.#...#',
  '..#...####...###...###..####..####..#####',
  '..#...#.........#.....#.#.....#.#...#...#',
  '..#...#.........#.....#.#.....#..#..#...#',
  '..#...#####.####..####..#####.#...#.#...#',
];
function writing(x, y, width, height) {
  const size = Math.floor(width / 48);
  const row = Math.floor((y - Math.floor(height / 2)) / size + 3.5), column = Math.floor(x / size) - 3;
  return letters[row]?.[column] === '#' ? 0.1 : 0.9;
}

function picture(shape, isLast, colour) {
  const [height, width] = isLast ? [shape[1], shape[2]] : [shape[2], shape[3]];
  const values = new Float32Array(height * width * 3);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < 3; c++)
        values[isLast ? (y * width + x) * 3 + c : (c * height + y) * width + x] = colour(x, y, width, height, c);
  return values;
}

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
