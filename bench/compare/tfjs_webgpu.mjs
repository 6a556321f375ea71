// TF.js on its WebGPU backend, in node on Dawn (npm `webgpu`), as a peer of compare.mjs.
//   node tfjs_webgpu.mjs PACKAGES MODELS
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { keepAnswersClean, serve } from './serve.mjs';
import { tfjsWorkloads } from './tfjs.mjs';
import { webgpuDevice } from './tfjs_device.mjs';

keepAnswersClean();
const [packages, models] = process.argv.slice(2);
const require = createRequire(join(packages, 'package.json'));
const { create, globals } = await import(pathToFileURL(require.resolve('webgpu')));
Object.assign(globalThis, globals);
const gpu = create([]);
Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true });
globalThis.self = globalThis;
const info = (await gpu.requestAdapter())?.info;

const tf = require('@tensorflow/tfjs-core');
require('@tensorflow/tfjs-backend-webgpu');
const { loadGraphModel } = require('@tensorflow/tfjs-converter');
const { loadLayersModel } = require('@tensorflow/tfjs-layers');
tf.env().set('WEBGPU_CPU_FORWARD', false);
if (!(await tf.setBackend('webgpu'))) throw new Error('TF.js has no WebGPU');
await tf.ready();
const loadBytes = (file) => {
  const bytes = readFileSync(join(models, file));
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
};
const make = tfjsWorkloads({ ...tf, loadGraphModel, loadLayersModel }, webgpuDevice(tf.backend()), loadBytes);
await serve(`${info?.description} (Dawn in node)`, async (...workload) => {
  const made = await make(...workload);
  await made.run(); // names kernels that the device refuses
  return made;
});
