#!/usr/bin/env node
// tessera in a page: what a frame costs, beside the native library on the same SwiftShader, and beside TF.js in the same
// browser; --help explains.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { Chromium, serve } from '../../tests/web/chromium.mjs';
import { Peer, prepare, root } from '../compare/peers.mjs';
import { measure } from '../compare/turns.mjs';
import { standard } from '../compare/workloads.mjs';
import { reportFrames, reportWorkloads } from './report.mjs';

const help = `bench/web/run.mjs [options]
  --only A,B         of frames and the workloads of bench/compare, those whose names begin so
  --rounds N         how often each peer has its turn with a workload; 3 unless told
  --web FOLDER       the build for pages; build/web-jspi unless told
  --build FOLDER     the native build; build/release unless told
  --markdown FILE    puts the tables between '<!-- web -->' and '<!-- /web -->' there; - prints them
One headless Chromium has tessera on WebGL2 and WebGPU, and TF.js on its WebGL and WebGPU backends; beside it is the native library.
All are on SwiftShader, and take turns.`;

const { values: options } = parseArgs({ options: {
  help: { type: 'boolean' }, only: { type: 'string' }, rounds: { type: 'string', default: '3' }, markdown: { type: 'string' },
  web: { type: 'string', default: join(root, 'build/web-jspi') }, build: { type: 'string', default: join(root, 'build/release') },
} });
if (options.help) {
  console.log(help);
  process.exit(0);
}
const here = dirname(fileURLToPath(import.meta.url)), build = resolve(options.build), packages = join(dirname(build), 'compare');
const native = ['tessera-gles-swiftshader', 'tessera-webgpu-swiftshader'];
const missing = prepare(build, packages, [...native, 'tfjs-webgpu'], false);
for (const [peer, reason] of Object.entries(missing)) console.log(`${peer} is missing: ${reason}`);
execFileSync('cmake', ['--build', options.web, '--target', 'web_bench'], { stdio: ['ignore', 'ignore', 2] });

// The page: tessera's program is there; TF.js and the workloads are copied beside it.
const page = join(options.web, 'bench/web/page');
mkdirSync(join(page, 'tf'), { recursive: true });
for (const name of ['core', 'backend-cpu', 'backend-webgl', 'backend-webgpu', 'layers', 'converter'])
  copyFileSync(join(packages, 'node_modules/@tensorflow', `tfjs-${name}`, 'dist', `tf-${name}.min.js`), join(page, 'tf', `${name}.js`));
for (const name of ['answer.mjs', 'tfjs.mjs', 'tfjs_device.mjs', 'tfjs_page.mjs', 'workloads.mjs'])
  copyFileSync(join(here, '../compare', name), join(page, name));
for (const name of ['index.html', 'peer.html']) copyFileSync(join(here, name), join(page, name));

// A page that is alone has a fine clock.
const alone = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
const server = await serve(page, 0, alone), browser = await Chromium.start();
browser.onMessage = (text) => console.error(`   ${text}`);
await browser.open(`http://localhost:${server.address().port}/`);
await browser.until('globalThis.isReady', 30);

const inPage = (name) => ({
  name, ask: (line) => browser.evaluate(`ask(${JSON.stringify(name)}, ${JSON.stringify(line)})`).then((answer) => answer ?? { error: 'the page gave no answer' }),
});
const peers = [];
for (const name of ['tessera-webgl', 'tessera-webgpu', 'tfjs-webgl', 'tfjs-webgpu']) {
  const { device, error } = (await browser.evaluate(`startPeer('${name}')`)) ?? { error: 'it does not start' };
  console.log(`${name}: ${device ?? error}`);
  if (device) peers.push(inPage(name));
}
const natives = [];
for (const name of native.filter((peer) => !missing[peer])) {
  const peer = new Peer(name, build, packages), { device, error } = await peer.start();
  console.log(`${name}: ${device ?? error}`);
  if (device) natives.push(peer);
}

const only = options.only?.split(',');
const isWanted = (name) => !only || only.some((start) => name.startsWith(start));
const settings = { rounds: Number(options.rounds), budget: 80, patience: 3000 };
console.log(`load ${loadavg()[0].toFixed(1)} before`);
const tables = [];
if (isWanted('frames')) {
  const all = [...peers.filter(({ name }) => name.startsWith('tessera')), ...natives];
  const frames = [];
  for (const size of ['64 64', '320 240'])
    frames.push(await measure(all, { name: `frames ${size.replace(' ', 'x')}`, spec: `frames ${size}` }, { ...settings, facts: true }));
  tables.push(reportFrames(frames));
}
const results = [];
for (const workload of standard.filter(({ name }) => isWanted(name))) {
  console.error(`${workload.name} ...`);
  results.push(await measure(peers, workload, settings));
}
if (results.length > 0) tables.push(reportWorkloads(results));
for (const peer of natives) peer.stop();
await browser.close();
server.close();

console.log(`\n${tables.join('\n\n')}\n\nload ${loadavg()[0].toFixed(1)} after`);
if (options.markdown && options.markdown !== '-') {
  const text = readFileSync(options.markdown, 'utf8'), from = text.indexOf('<!-- web -->'), to = text.indexOf('<!-- /web -->');
  if (from < 0 || to < 0) throw new Error(`${options.markdown} has no place for the tables: <!-- web --> and <!-- /web -->`);
  writeFileSync(options.markdown, `${text.slice(0, from)}<!-- web -->\n${tables.join('\n\n')}\n${text.slice(to)}`);
}
process.exit(0);
