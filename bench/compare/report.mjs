// Tables of what compare.mjs measured, as text and as Markdown.
import { titleOf } from './peers.mjs';

export const geometricMean = (values) => Math.exp(values.reduce((total, value) => total + Math.log(value), 0) / values.length);
export const brief = (value) => value?.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2) ?? '';
const time = (value) => (value < 1 ? value.toFixed(3) : brief(value));

// The time of each of `others` divided by that of `own`.
function ratios(results, own, others) {
  const present = others.filter((peer) => results.some((result) => result.times[peer] !== undefined || result.errors[peer]));
  const cell = (result, peer) =>
    result.times[own] && result.times[peer] ? brief(result.times[peer] / result.times[own]) : result.errors[peer] ? 'none' : '';
  const rows = results.map((result) => [result.name, time(result.times[own]) || 'none', ...present.map((peer) => cell(result, peer))]);
  const means = present.map((peer) => {
    const all = results.filter(({ times }) => times[own] && times[peer]).map(({ times }) => times[peer] / times[own]);
    return all.length > 0 ? brief(geometricMean(all)) : '';
  });
  return { heading: ['', `${titleOf(own)} (ms)`, ...present.map(titleOf)], rows: [...rows, ['geometric mean', '', ...means]] };
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(2);
function loading(results, peer) {
  const rows = results.filter((result) => result.facts[peer]).map(({ name, facts: { [peer]: fact } }) => [
    name, time(fact.copy_ms), time(fact.load_ms), time(fact.prepare_ms), megabytes(fact.file_bytes), megabytes(fact.weight_bytes),
    megabytes(fact.largest_node_bytes), megabytes(fact.live_bytes), megabytes(fact.run_bytes), megabytes(fact.pool_bytes),
    megabytes(fact.bytes_in_budget), megabytes(fact.uploaded_in_budget)]);
  const memory = ['file (MB)', 'weights (MB)', 'largest node (MB)', 'live set (MB)', 'a run (MB)', 'pool (MB)', 'all, in a budget (MB)',
    'of which a run uploads (MB)'];
  return { heading: ['', 'copy of the file (ms)', 'load (ms)', 'prepare (ms)', ...memory], rows };
}

export function tables(results, set) {
  const all = [];
  const add = (title, own, others) => {
    if (results.some((result) => result.times[own])) all.push({ title, ...ratios(results, own, others) });
  };
  if (set === 'growth') {
    const peers = [...new Set(results.flatMap(({ times }) => Object.keys(times)))];
    const rows = results.map(({ name, times }) => [name, ...peers.map((peer) => time(times[peer]))]);
    return [{ title: 'Milliseconds', heading: ['', ...peers], rows }];
  }
  add('WebGPU on lavapipe', 'tessera-webgpu', ['tfjs-webgpu', 'ort-webgpu', 'raw']);
  add("OpenGL ES on Mesa's driver", 'tessera-gles', ['tfjs-webgl', 'raw-gles']);
  add('OpenGL ES on ANGLE on lavapipe', 'tessera-angle', ['tfjs-webgl']);
  if (set === 'models')
    for (const peer of ['tessera-webgpu', 'tessera-gles'])
      if (results.some((result) => result.facts[peer])) all.push({ title: `Loading and memory, ${peer}`, ...loading(results, peer) });
  return all;
}

export function asText({ title, heading, rows }) {
  const lines = [heading, ...rows], widths = heading.map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  const line = (cells) => cells.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join('  ');
  return [title, ...lines.map(line)].join('\n');
}

export function asMarkdown({ title, heading, rows }) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line([title, ...heading.slice(1)]), `|---|${heading.slice(1).map(() => '---:').join('|')}|`, ...rows.map(line)].join('\n');
}

// What went wrong, by workload and peer; and which targets hold.
export function remarks(results) {
  const lines = [];
  for (const { name, errors } of results) for (const [peer, error] of Object.entries(errors)) lines.push(`${name}, ${peer}: ${error}`);
  return lines;
}

export function targets(results, set) {
  const held = [], missed = [];
  const byHand = results.filter(({ times }) => times['tessera-webgpu'] && times.raw);
  if (set === 'odd' && byHand.length > 0) { // all together within 1.5 of kernels that were written for the sizes
    const ratio = geometricMean(byHand.map(({ times }) => times.raw / times['tessera-webgpu'])), wanted = 1 / 1.5;
    (ratio >= wanted ? held : missed).push(`odd sizes against kernels by hand: ${brief(ratio)}, wanted ${brief(wanted)}`);
  }
  for (const { name, times, targets: wanted = {} } of results) {
    const judge = (factor, own, others, against) => {
      const known = others.filter((peer) => times[peer]);
      if (!factor || !times[own] || known.length === 0) return;
      const ratio = Math.min(...known.map((peer) => times[peer])) / times[own];
      (ratio >= factor ? held : missed).push(`${name} against ${against}: ${brief(ratio)}, wanted ${factor}`);
    };
    judge(wanted.library, 'tessera-webgpu', ['tfjs-webgpu', 'ort-webgpu'], 'the faster library');
    judge(wanted.raw, 'tessera-webgpu', ['raw'], 'kernels by hand');
    judge(wanted.webgl, 'tessera-gles', ['tfjs-webgl'], 'TF.js on WebGL');
  }
  return { held, missed };
}
