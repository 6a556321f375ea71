// The tables of bench/web, as Markdown.
const ms = (value) => (value === undefined ? 'none' : value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0));
const ratio = (a, b) => (a === undefined || b === undefined ? 'none' : (a / b).toFixed(2));
const table = (rows) => rows.map((row, i) => `| ${row.join(' | ')} |${i ? '' : `\n|${row.map((_, k) => (k ? '---:' : '---')).join('|')}|`}`).join('\n');
const mean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

// Who is in the page and who is beside it. TF.js's WebGL has no place but a browser.
const backends = [
  { title: 'WebGL2', own: 'tessera-webgl', tfjs: 'tfjs-webgl', native: 'tessera-gles-swiftshader', nativeTfjs: 'tfjs-webgl',
    byHand: 'byhand-webgl', nativeByHand: 'by-hand-swiftshader' },
  { title: 'WebGPU', own: 'tessera-webgpu', tfjs: 'tfjs-webgpu', native: 'tessera-webgpu-swiftshader', nativeTfjs: 'tfjs-webgpu-swiftshader' },
];
export const inPage = ['tessera-webgl', 'tessera-webgpu', 'tfjs-webgl', 'tfjs-webgpu', 'byhand-webgl'];
export const natively = ['tessera-gles-swiftshader', 'tessera-webgpu-swiftshader', 'tfjs-webgpu-swiftshader', 'by-hand-swiftshader'];

// {name, times, facts} of peers in pages and natively; facts: {host_ms, dispatches}.
export function reportFrames(frames) {
  const rows = [['a filter of 8 kernels', 'host time, ms', 'natively', 'frame, ms', 'natively', 'page ÷ native', 'by hand, ms', 'natively', 'page ÷ native']];
  for (const { name, times, facts } of frames)
    for (const { title, own, native, byHand, nativeByHand } of backends) {
      const others = byHand ? [ms(times[byHand]), ms(times[nativeByHand]), ratio(times[byHand], times[nativeByHand])] : ['', '', ''];
      rows.push([`${name.replace('frames ', '')}, ${title}`, ms(facts[own]?.host_ms), ms(facts[native]?.host_ms),
        ms(times[own]), ms(times[native]), ratio(times[own], times[native]), ...others]);
    }
  return table(rows);
}

export function reportWorkloads(results) {
  const remarks = results.flatMap(({ name, errors }) => Object.entries(errors).map(([peer, error]) => `${name}, ${peer}: ${error}`));
  const tables = backends.map(({ title, own, tfjs, native, nativeTfjs }) => {
    const isBoth = nativeTfjs !== tfjs, ratios = [[], [], []];
    const rows = [[`${title}, ms`, 'tessera', 'TF.js', 'TF.js ÷ tessera', 'tessera natively', ...(isBoth ? ['TF.js natively'] : []),
      isBoth ? 'TF.js ÷ tessera natively' : 'TF.js ÷ tessera natively (TF.js in the page)', 'tessera: page ÷ native']];
    for (const { name, times } of results) {
      const pairs = [[times[tfjs], times[own]], [times[nativeTfjs], times[native]], [times[own], times[native]]];
      pairs.forEach(([a, b], i) => { if (a && b) ratios[i].push(a / b); });
      const [inThePage, beside, between] = pairs.map(([a, b]) => ratio(a, b));
      rows.push([name, ms(times[own]), ms(times[tfjs]), inThePage, ms(times[native]), ...(isBoth ? [ms(times[nativeTfjs])] : []), beside, between]);
    }
    const means = ratios.map((all) => (all.length ? mean(all).toFixed(2) : 'none'));
    rows.push(['geometric mean', '', '', means[0], '', ...(isBoth ? [''] : []), means[1], means[2]]);
    return table(rows);
  });
  return [...tables, ...(remarks.length ? [`none: ${remarks.join('; ')}.`] : [])].join('\n\n');
}
