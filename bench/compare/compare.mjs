#!/usr/bin/env node
// tessera beside TF.js, onnxruntime and kernels written by hand, in turns on one machine; --help explains.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Peer, peerNames, prepare, root } from './peers.mjs';
import { bars, lines } from './plot.mjs';
import { asMarkdown, asText, remarks, tables, targets } from './report.mjs';
import { measure } from './turns.mjs';
import { growth, models, odd, standard } from './workloads.mjs';

const help = `compare.mjs [workloads|growth|models|all] [options]
  workloads   (unless told otherwise) what tensor libraries are compared by
  growth      from a thousand to 64 million elements, from one to ten thousand operations
  models      the networks of the samples, with what loading takes, in time and memory
  all         these, and odd sizes, one after the other

  --sizes odd       workloads of odd, prime, tall, batched, strided and transposed shapes
  --only A,B        those whose names begin so
  --peers A,B       of ${peerNames.join(', ')}; all unless told
  --rounds N        how often each peer has its turn with a workload; 5 unless told
  --build FOLDER    of tessera; build/release unless told. Packages are installed into 'compare' beside it
  --markdown FILE   puts the tables between '<!-- compare SET -->' and '<!-- /compare -->' there; - prints them
  --svg FILE        a plot; with 'all' a folder, which gets compare.svg and growth.svg
  --cpu             CPU time in place of times: for a machine that is busy. TF.js in node waits by running
  --json FILE       all numbers
Each workload is run by every peer in turns, after all have come to the same result. Times are medians from the first call until
the device is done, inputs and results on the device, nothing compiled. Ratios are the other's time divided by tessera's.`;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean' }, sizes: { type: 'string' }, only: { type: 'string' }, peers: { type: 'string' },
    rounds: { type: 'string', default: '5' }, build: { type: 'string', default: join(root, 'build/release') },
    cpu: { type: 'boolean' }, markdown: { type: 'string' }, svg: { type: 'string' }, json: { type: 'string' },
  },
});
const set = options.sizes ?? positionals[0] ?? 'workloads';
if (set === 'all' && !options.help) { // each in a process of its own
  const { markdown, svg, json: _, ...same } = options;
  const given = Object.entries(same).flatMap(([name, value]) => (value === true ? [`--${name}`] : [`--${name}`, value]));
  const text = markdown ? ['--markdown', markdown] : [], plot = (name) => (svg ? ['--svg', join(svg, name)] : []);
  const runs = [
    ['workloads', ...text, ...plot('compare.svg')], ['--sizes', 'odd', ...text], ['growth', ...plot('growth.svg')], ['models', ...text],
  ];
  const failed = runs.filter((run) => spawnSync(process.execPath, [process.argv[1], ...run, ...given], { stdio: 'inherit' }).status !== 0);
  process.exit(failed.length > 0 ? 1 : 0);
}
const sets = { workloads: standard, odd, growth: growth.flatMap((group) => group.workloads), models };
const wanted = (options.peers?.split(',') ?? peerNames).filter((peer) => set === 'models' || peer !== 'ort-cpu');
const unknown = wanted.find((peer) => !peerNames.includes(peer));
if (options.help || !sets[set] || unknown) {
  console.log(unknown ? `There is no peer ${unknown}.\n${help}` : help);
  process.exit(options.help ? 0 : 1);
}
const only = options.only?.split(',');
const workloads = sets[set].filter(({ name }) => !only || only.some((start) => name.startsWith(start)));
// have nothing to run there, or nothing new to tell
const unusual = { odd: ['raw-gles'], growth: ['tessera-angle', 'raw-gles'], models: ['raw', 'raw-gles'] }[set] ?? [];

const build = resolve(options.build), folder = join(dirname(build), 'compare');
const missing = prepare(build, folder, wanted, set === 'models');
const peers = [];
for (const name of wanted.filter((peer) => !missing[peer] && (options.peers || !unusual.includes(peer)))) {
  const peer = new Peer(name, build, folder), first = await peer.start();
  if (first.error) missing[name] = first.error;
  else peers.push(peer);
}
const machine = `${cpus().length} × ${cpus()[0].model.replace(/\s+/g, ' ').trim()}`;
console.log(`${machine}; load ${loadavg()[0].toFixed(1)} before`);
for (const peer of peers) console.log(`${peer.name}: ${peer.device}`);
for (const [peer, reason] of Object.entries(missing)) console.log(`${peer} is missing: ${reason}`);

const settings = {
  rounds: Number(options.rounds), budget: 80, patience: set === 'models' ? 6000 : 3000, facts: set === 'models',
};
if (set === 'models')
  settings.reference = ({ file }) => (file.endsWith('.onnx') ? 'ort-cpu' : peers.find(({ name }) => name.startsWith('tfjs'))?.name);
const results = [], start = Date.now();
for (const workload of workloads) {
  console.error(`${workload.name} ...`);
  const able = peers.filter(({ name }) => !(workload.file && name.startsWith(workload.file.endsWith('.onnx') ? 'tfjs' : 'ort')));
  results.push(await measure(able, workload, settings));
}
for (const peer of peers) peer.stop();

if (options.cpu) for (const result of results) result.times = result.cpu;
const made = tables(results, set);
const left = Object.keys(missing).map((peer) => `${peer} was missing: ${missing[peer]}`);
console.log(`\n${made.map(asText).join('\n\n')}`);
for (const remark of remarks(results)) console.log(remark);
const { held, missed } = targets(results, set);
const judged = held.length + missed.length;
if (judged > 0) console.log(`\n${held.length} of ${judged} targets hold. Not:\n${missed.join('\n')}`);
console.log(`\n${((Date.now() - start) / 1000).toFixed(0)} s, load ${loadavg()[0].toFixed(1)} after`);

const devices = Object.fromEntries(peers.map(({ name, device }) => [name, device]));
if (options.json) writeFileSync(options.json, JSON.stringify({ machine, devices, missing, results }, null, 1));
const others = ['tfjs-webgpu', 'ort-webgpu', 'raw'];
if (options.svg) writeFileSync(options.svg, set === 'growth' ? lines(growth, results) : bars(results, 'tessera-webgpu', others));
if (options.markdown) {
  const none = remarks(results).length > 0 ? [`\`none\`: ${remarks(results).join('; ')}.`] : [];
  const text = [...made.map(asMarkdown), ...none, ...left].join('\n\n');
  if (options.markdown === '-') console.log(`\n${text}`);
  else {
    const page = readFileSync(options.markdown, 'utf8'), begin = `<!-- compare ${set} -->`;
    const from = page.indexOf(begin), to = page.indexOf('<!-- /compare -->', from);
    if (from < 0 || to < 0) throw new Error(`${options.markdown} has no place for the table: ${begin} and <!-- /compare -->`);
    writeFileSync(options.markdown, `${page.slice(0, from)}${begin}\n${text}\n${page.slice(to)}`);
  }
}
process.exit(results.some(({ errors }) => Object.values(errors).some((error) => error.startsWith('wrong'))) ? 1 : 0);
