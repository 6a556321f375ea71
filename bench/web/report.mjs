// The tables of bench/web, as Markdown.
const ms = (value) => (value === undefined ? 'none' : value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0));
const ratio = (a, b) => (a === undefined || b === undefined ? 'none' : (a / b).toFixed(2));
const table = (rows) => rows.map((row, i) => `| ${row.join(' | ')} |${i ? '' : `\n|${row.map(() => '---').join('|')}|`}`).join('\n');

// {name, times, facts} of peers in pages and natively; facts: {host_ms, dispatches}.
export function reportFrames(frames) {
  const rows = [['a filter of 8 kernels', 'kernels', 'host time, ms', 'frame, ms', 'native host time, ms', 'native frame, ms', 'frame ÷ native']];
  for (const { name, times, facts } of frames)
    for (const [title, own, native] of [['WebGL2', 'tessera-webgl', 'tessera-gles-swiftshader'], ['WebGPU', 'tessera-webgpu', 'tessera-webgpu-swiftshader']])
      rows.push([`${name.replace('frames ', '')}, ${title}`, facts[own]?.dispatches ?? 'none', ms(facts[own]?.host_ms), ms(times[own]),
        ms(facts[native]?.host_ms), ms(times[native]), ratio(times[own], times[native])]);
  return table(rows);
}

const mean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

export function reportWorkloads(results) {
  const rows = [['workload', 'tessera WebGL2, ms', 'TF.js WebGL, ms', 'TF.js ÷ tessera', 'tessera WebGPU, ms', 'TF.js WebGPU, ms', 'TF.js ÷ tessera']];
  const ratios = { webgl: [], webgpu: [] }, remarks = [];
  for (const { name, times, errors } of results) {
    const row = [name];
    for (const backend of ['webgl', 'webgpu']) {
      const own = times[`tessera-${backend}`], other = times[`tfjs-${backend}`];
      if (own && other) ratios[backend].push(other / own);
      row.push(ms(own), ms(other), ratio(other, own));
    }
    rows.push(row);
    for (const [peer, error] of Object.entries(errors)) remarks.push(`${name}, ${peer}: ${error}`);
  }
  const means = Object.values(ratios).map((all) => (all.length ? mean(all).toFixed(2) : 'none'));
  rows.push(['geometric mean', '', '', means[0], '', '', means[1]]);
  return [table(rows), ...(remarks.length ? [`none: ${remarks.join('; ')}.`] : [])].join('\n\n');
}
