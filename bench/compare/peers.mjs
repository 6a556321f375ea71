// The programs that compare.mjs puts side by side: what they need, and how they are asked.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { picture, portrait, writing } from '../../tests/models/pictures.mjs';
import { models } from './workloads.mjs';

const here = dirname(fileURLToPath(import.meta.url));
export const root = dirname(dirname(here));

const tfjs = '4.22.0';
const packages = {
  webgpu: '0.6.2', 'onnxruntime-node': '1.30.0', 'playwright-core': '1.65.0', '@tensorflow/tfjs-core': tfjs,
  '@tensorflow/tfjs-backend-cpu': tfjs, '@tensorflow/tfjs-backend-webgl': tfjs, '@tensorflow/tfjs-backend-webgpu': tfjs,
  '@tensorflow/tfjs-converter': tfjs, '@tensorflow/tfjs-layers': tfjs,
};

const onLavapipe = () => ({ VK_LOADER_DRIVERS_SELECT: '*lvp_icd*' });
const onSwiftShader = (build) => ({ VK_DRIVER_FILES: join(dirname(build), 'third_party/angle/vk_swiftshader_icd.json') });

// name: what tables call it; args: what the program is told beside the folders of packages and networks; env: what its
// environment has more, by the folder of the build.
const kinds = {
  'tessera-webgpu': { name: 'tessera', program: 'compare_tessera', args: ['webgpu', 'lavapipe'] },
  'tessera-gles': { name: 'tessera', program: 'compare_tessera', args: ['gles', 'EGL Mesa'] },
  'tessera-angle': { name: 'tessera, ANGLE', program: 'compare_tessera', args: ['gles', 'ANGLE on lavapipe'] },
  // for bench/web: SwiftShader is what a browser has without a GPU
  'tessera-gles-swiftshader': { name: 'tessera', program: 'compare_tessera', args: ['gles', 'ANGLE on SwiftShader'], isForPages: true },
  'tessera-webgpu-swiftshader': { name: 'tessera', program: 'compare_tessera', args: ['webgpu', 'SwiftShader'], isForPages: true },
  'tfjs-webgpu-swiftshader': { name: 'TF.js', script: 'tfjs_webgpu.mjs', env: onSwiftShader, isForPages: true },
  'by-hand-swiftshader': { name: 'by hand', program: 'compare_by_hand', args: [join(here, '../web/blur.frag')], isForPages: true },
  'tfjs-webgpu': { name: 'TF.js', script: 'tfjs_webgpu.mjs', env: onLavapipe },
  'ort-webgpu': { name: 'onnxruntime', script: 'ort.mjs', args: ['webgpu'], env: onLavapipe },
  'ort-cpu': { name: 'onnxruntime, CPU', script: 'ort.mjs', args: ['cpu'] },
  raw: { name: 'by hand', program: 'compare_raw', env: onLavapipe },
  'raw-gles': { name: 'by hand', program: 'compare_raw_gles', args: ['EGL Mesa'] },
  'tfjs-webgl': { name: 'TF.js', script: 'tfjs_webgl.mjs', needs: chromium },
};
export const peerNames = Object.keys(kinds).filter((peer) => !kinds[peer].isForPages);
export const titleOf = (peer) => kinds[peer].name;

function chromium() {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const path = (process.env.PATH ?? '').split(':').map((folder) => join(folder, name)).find(existsSync);
    if (path) return [path];
  }
  throw new Error('there is no Chromium: apt-get install chromium');
}

function installPackages(folder) {
  const versionOf = (name) => {
    const file = join(folder, 'node_modules', name, 'package.json');
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
  };
  if (Object.entries(packages).every(([name, version]) => versionOf(name) === version)) return;
  console.error('Installing TF.js and onnxruntime (npm, 400 MB)');
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages }));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...options], { cwd: folder, stdio: ['ignore', 2, 2] });
}

function buildPrograms(build, programs) {
  console.error(`Building ${programs.join(', ')}`);
  const cmake = (...words) => execFileSync('cmake', words, { cwd: root, stdio: ['ignore', 'ignore', 2] });
  if (!existsSync(join(build, 'CMakeCache.txt'))) cmake('--preset', 'release', '-B', build);
  cmake('--build', build, '--target', ...programs);
}

// The networks of the samples beside their inputs: a portrait, or writing.
function layOutModels(build, folder) {
  const from = join(dirname(build), 'third_party', 'models');
  if (!existsSync(join(from, 'stamp'))) throw new Error('the networks were not fetched: configure with -DTESSERA_SAMPLE_MODELS=ON');
  cpSync(from, join(folder, 'models'), { recursive: true });
  for (const { spec, file, shape } of models) {
    const isOnnx = file.endsWith('.onnx');
    const pixels = picture(shape, !isOnnx, isOnnx ? writing : portrait).map((value) => (isOnnx ? value * 2 - 1 : value));
    writeFileSync(join(folder, 'models', spec.split(' ')[2]), new Uint8Array(pixels.buffer));
  }
}

// Installs and builds what the peers need. What cannot be had is told, and the peers go on without it.
export function prepare(build, folder, wanted, withModels) {
  mkdirSync(folder, { recursive: true });
  const missing = {};
  const attempt = (peers, work) => {
    if (peers.length === 0) return;
    try {
      work();
    } catch (error) {
      for (const peer of peers) missing[peer] = error.message.split('\n')[0];
    }
  };
  attempt(wanted.filter((peer) => kinds[peer].script), () => installPackages(folder));
  const built = wanted.filter((peer) => kinds[peer].program);
  attempt(built, () => buildPrograms(build, [...new Set(built.map((peer) => kinds[peer].program))]));
  for (const peer of wanted) if (kinds[peer].needs) attempt([peer], kinds[peer].needs);
  if (withModels) attempt(wanted, () => layOutModels(build, folder));
  return missing;
}

export class Peer {
  constructor(name, build, folder) {
    const { program, script, args = [], needs, env } = kinds[name];
    this.name = name;
    this.command = program
      ? [join(build, 'bench/compare', program), ...args, join(folder, 'models')]
      : [process.execPath, join(here, script), folder, join(folder, 'models'), ...args, ...(needs?.() ?? [])];
    this.env = { ...process.env, ...env?.(build) };
    this.lastWords = '';
  }

  async start() {
    this.child = spawn(this.command[0], this.command.slice(1), { env: this.env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdin.on('error', () => {});
    this.child.on('error', (error) => { this.lastWords = error.message; });
    this.child.stderr.on('data', (text) => { this.lastWords = `${text}`.trim().split('\n').pop(); });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    const first = await this.answer(120);
    if (first.device) this.device = first.device;
    return first;
  }

  // The next line that it prints; an error, and the end of the program, if there is none in time.
  async answer(seconds) {
    let timer;
    const late = new Promise((resolve) => { timer = setTimeout(() => resolve('late'), seconds * 1000); });
    const line = await Promise.race([this.lines.next(), late]);
    clearTimeout(timer);
    if (line !== 'late' && !line.done) return JSON.parse(line.value);
    this.stop();
    return { error: line === 'late' ? `no answer in ${seconds} s` : `it ended: ${this.lastWords}`.slice(0, 200) };
  }

  async ask(line, seconds = 120) {
    if (!this.child) {
      const first = await this.start();
      if (first.error) return first;
    }
    this.child.stdin.write(`${line}\n`);
    return this.answer(seconds);
  }

  stop() {
    const child = this.child;
    this.child = undefined;
    child?.stdin.end();
    for (const [signal, ms] of [['SIGTERM', 2000], ['SIGKILL', 8000]]) setTimeout(() => child?.kill(signal), ms).unref();
  }
}
