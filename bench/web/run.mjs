#!/usr/bin/env node
// tessera in a page: what a frame costs, beside the native library on the same SwiftShader, and beside TF.js in the same
// browser and natively; --help explains.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { Chromium, serve } from '../../tests/web/chromium.mjs';
import { cpuTimeOf } from '../compare/cpu_time.mjs';
import { Peer, prepare, root } from '../compare/peers.mjs';
import { measure } from '../compare/turns.mjs';
import { standard } from '../compare/workloads.mjs';
import { inPage, natively, reportFrames, reportWorkloads } from './report.mjs';

const help = `bench/web/run.mjs [options]
  --only A,B         of frames and the workloads of bench/compare, those whose names begin so
  --rounds N         how often each peer has its turn with a workload; 3 unless told
  --keep FILE        keeps the times there, and has those of earlier runs in the tables, too
  --web FOLDER       the build for pages; build/web-jspi unless told
  --build FOLDER     the native build; build/release unless told
  --markdown FILE    puts the tables between '<!-- web -->' and '<!-- /web -->' there; - prints them
One headless Chromium has tessera on WebGL2 and WebGPU, and TF.js on its WebGL and WebGPU backends. Beside it are the native
library and TF.js's WebGPU in node, and for frames the same filter by hand, in the page and natively. All are on SwiftShader, and
take turns.`;

const { values: options } = parseArgs({ options: {
  help: { type: 'boolean' }, only: { type: 'string' }, rounds: { type: 'string', default: '3' }, markdown: { type: 'string' }, keep: { type: 'string' },
  web: { type: 'string', default: join(root, 'build/web-jspi') }, build: { type: 'string', default: join(root, 'build/release') },
} });
if (options.help) {
  console.log(help);
  process.exit(0);
}
const here = dirname(fileURLToPath(import.meta.url)), build = resolve(options.build), packages = join(dirname(build), 'compare');
const missing = prepare(build, packages, natively, false);
for (const [peer, reason] of Object.entries(missing)) console.log(`${peer} is missing: ${reason}`);
execFileSync('cmake', ['--build', options.web, '--target', 'web_bench'], { stdio: ['ignore', 'ignore', 2] });

// The page: tessera's program is there; TF.js and the workloads are copied beside it.
const page = join(options.web, 'bench/web/page');
mkdirSync(join(page, 'tf'), { recursive: true });
for (const name of ['core', 'backend-cpu', 'backend-webgl', 'backend-webgpu', 'layers', 'converter'])
  copyFileSync(join(packages, 'node_modules/@tensorflow', `tfjs-${name}`, 'dist', `tf-${name}.min.js`), join(page, 'tf', `${name}.js`));
for (const name of ['answer.mjs', 'tfjs.mjs', 'tfjs_device.mjs', 'tfjs_page.mjs', 'workloads.mjs'])
  copyFileSync(join(here, '../compare', name), join(page, name));
for (const name of ['index.html', 'peer.html', 'by_hand.mjs', 'blur.frag']) copyFileSync(join(here, name), join(page, name));

// A page that is alone has a fine clock.
const alone = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
const server = await serve(page, 0, alone), browser = await Chromium.start();
browser.onMessage = (text) => console.error(`   ${text}`);
await browser.open(`http://localhost:${server.address().port}/`);
await browser.until('globalThis.isReady', 30);

// Beside the time of a run, what SwiftShader's threads have taken of the processor for it: the same on a busy machine, and
// without what browsers and node do to notice that the device is done.
const withDriversTime = (peer, pidOf) => {
  const driversTime = () => cpuTimeOf(pidOf(), /^Thread</);
  const ask = async (line) => {
    const before = driversTime(), answer = (await peer.ask(line)) ?? { error: 'the page gave no answer' };
    return answer.ms ? { ...answer, cpu_ms: driversTime() - before } : answer;
  };
  return { name: peer.name, ask };
};
const peers = [];
for (const name of inPage) {
  const { device, error } = (await browser.evaluate(`startPeer('${name}')`)) ?? { error: 'it does not start' };
  console.log(`${name}: ${device ?? error}`);
  const ask = (line) => browser.evaluate(`ask(${JSON.stringify(name)}, ${JSON.stringify(line)})`);
  if (device) peers.push(withDriversTime({ name, ask }, () => browser.pid));
}
const natives = [];
for (const name of natively.filter((peer) => !missing[peer])) {
  const peer = new Peer(name, build, packages), { device, error } = await peer.start();
  console.log(`${name}: ${device ?? error}`);
  if (device) natives.push(peer);
}
peers.push(...natives.map((peer) => withDriversTime(peer, () => peer.child?.pid)));

const only = options.only?.split(',');
const isWanted = (name) => !only || only.some((start) => name.startsWith(start));
const isOf = (...libraries) => ({ name }) => libraries.some((library) => name.startsWith(library));
const settings = { rounds: Number(options.rounds), budget: 80, patience: 3000 };
const kept = options.keep && existsSync(options.keep) ? JSON.parse(readFileSync(options.keep, 'utf8')) : {};
console.log(`load ${loadavg()[0].toFixed(1)} before`);
const run = async (workload, all, more) => {
  if (!isWanted(workload.name)) return;
  console.error(`${workload.name} ...`);
  kept[workload.name] = await measure(all, workload, { ...settings, ...more });
  if (options.keep) writeFileSync(options.keep, JSON.stringify(kept));
};
const frames = ['64 64', '320 240', '640 480'].map((size) => ({ name: `frames ${size.replace(' ', 'x')}`, spec: `frames ${size}` }));
for (const each of frames) await run(each, peers.filter(isOf('tessera', 'byhand', 'by-hand')), { facts: true });
for (const each of standard) await run(each, peers.filter(isOf('tessera', 'tfjs')));
for (const peer of natives) peer.stop();
await browser.close();
server.close();

const resultsOf = (workloads) => workloads.map(({ name }) => kept[name]).filter((result) => result);
const tables = [[reportFrames, frames], [reportWorkloads, standard]].map(([report, workloads]) => [report, resultsOf(workloads)])
  .filter(([, results]) => results.length > 0).map(([report, results]) => report(results));
console.log(`\n${tables.join('\n\n')}\n\nload ${loadavg()[0].toFixed(1)} after`);
if (options.markdown && options.markdown !== '-') {
  const text = readFileSync(options.markdown, 'utf8'), from = text.indexOf('<!-- web -->'), to = text.indexOf('<!-- /web -->');
  if (from < 0 || to < 0) throw new Error(`${options.markdown} has no place for the tables: <!-- web --> and <!-- /web -->`);
  writeFileSync(options.markdown, `${text.slice(0, from)}<!-- web -->\n${tables.join('\n\n')}\n${text.slice(to)}`);
}
process.exit(0);
