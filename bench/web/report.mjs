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
  const rows = [['a filter of 8 kernels', 'host time, ms', 'natively', 'frame, ms', 'natively', 'page ÷ native', "driver's time, ms", 'natively', 'page ÷ native']];
  for (const { name, times, cpu, facts } of frames) {
    const row = (title, own, native) => rows.push([`${name.replace('frames ', '')}, ${title}`, ms(facts[own]?.host_ms), ms(facts[native]?.host_ms),
      ...[times, cpu].flatMap((of) => [ms(of[own]), ms(of[native]), ratio(of[own], of[native])])]);
    for (const { title, own, native, byHand, nativeByHand } of backends) {
      row(title, own, native);
      if (byHand) row(`${title} by hand`, byHand, nativeByHand);
    }
  }
  return table(rows);
}

// Ratios of times, and in the last columns of what SwiftShader's threads took of the processor.
export function reportWorkloads(results) {
  const remarks = results.flatMap(({ name, errors }) => Object.entries(errors).map(([peer, error]) => `${name}, ${peer}: ${error}`));
  const tables = backends.map(({ title, own, tfjs, native, nativeTfjs }) => {
    const isBoth = nativeTfjs !== tfjs, ratios = [[], [], [], [], []];
    const rows = [[title, 'tessera, ms', 'TF.js, ms', 'TF.js ÷ tessera', 'tessera natively, ms', ...(isBoth ? ['TF.js natively, ms'] : []),
      'TF.js ÷ tessera natively', "driver's time: TF.js ÷ tessera", 'natively', 'tessera, page ÷ native']];
    for (const { name, times, cpu } of results) {
      const pairs = [[times[tfjs], times[own]], [times[nativeTfjs], times[native]],
        [cpu[tfjs], cpu[own]], [cpu[nativeTfjs], cpu[native]], [cpu[own], cpu[native]]];
      pairs.forEach(([a, b], i) => { if (a && b) ratios[i].push(a / b); });
      const [inThePage, beside, ...drivers] = pairs.map(([a, b]) => ratio(a, b));
      rows.push([name, ms(times[own]), ms(times[tfjs]), inThePage, ms(times[native]), ...(isBoth ? [ms(times[nativeTfjs])] : []), beside, ...drivers]);
    }
    const [inThePage, beside, ...drivers] = ratios.map((all) => (all.length ? mean(all).toFixed(2) : 'none'));
    rows.push(['geometric mean', '', '', inThePage, '', ...(isBoth ? [''] : []), beside, ...drivers]);
    return table(rows);
  });
  return [...tables, ...(remarks.length ? [`none: ${remarks.join('; ')}.`] : [])].join('\n\n');
}
