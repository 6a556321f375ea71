// SVG plots of what compare.mjs measured; legible on light and dark pages.
import { titleOf } from './peers.mjs';
import { brief } from './report.mjs';

const colours = {
  'tessera-webgpu': '#2f7fd1', 'tessera-gles': '#5aa9e6', 'tessera-angle': '#8fb8d9', 'tfjs-webgpu': '#d9822b', 'ort-webgpu': '#7a62c9',
  'tfjs-webgl': '#c2507a', raw: '#2f9e77',
};
const escape = (text) => `${text}`.replace(/&/g, '&amp;').replace(/</g, '&lt;');
const text = (x, y, content, anchor = 'start', kind = 'name') =>
  `<text class="${kind}" x="${x}" y="${y}" text-anchor="${anchor}">${escape(content)}</text>`;
const line = (x1, x2, y1, y2, kind = 'grid') => `<line class="${kind}" x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}"/>`;

function page(width, height, body) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<style>
text { font: 12px sans-serif; fill: #24292f; }
.small { font-size: 10px; }
.grid { stroke: #8c959f; stroke-opacity: 0.35; }
.one { stroke: #24292f; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .one { stroke: #e6edf3; } }
</style>
${body.join('\n')}
</svg>
`;
}

// Bars of how much longer the others take than tessera, by workload, on a logarithmic axis.
export function bars(results, own, others) {
  const shown = results.filter(({ times }) => times[own] && others.some((peer) => times[peer]));
  const used = others.filter((peer) => shown.some(({ times }) => times[peer]));
  const all = shown.flatMap(({ times }) => used.filter((peer) => times[peer]).map((peer) => times[peer] / times[own]));
  const low = Math.min(0.5, 2 ** Math.floor(Math.log2(Math.min(...all)))), high = 2 ** Math.ceil(Math.log2(Math.max(2, ...all)));
  const left = 110, right = 700, bar = 9, step = used.length * bar + 8, top = 46;
  const place = (ratio) => left + ((Math.log2(ratio) - Math.log2(low)) / (Math.log2(high) - Math.log2(low))) * (right - left);
  const bottom = top + shown.length * step, body = [];
  used.forEach((peer, i) => {
    const x = left + i * 130;
    body.push(`<rect x="${x}" y="8" width="10" height="10" fill="${colours[peer]}"/>`, text(x + 15, 17, titleOf(peer)));
  });
  for (let tick = low; tick <= high; tick *= 2)
    if (Math.log2(tick) % 2 === 0 || tick === 0.5 || tick === 2) {
      const x = place(tick).toFixed(1);
      body.push(line(x, x, top - 6, bottom, tick === 1 ? 'one' : 'grid'), text(x, top - 10, `${tick}×`, 'middle', 'small'));
    }
  shown.forEach(({ name, times }, row) => {
    const y = top + row * step;
    body.push(text(left - 8, y + (used.length * bar) / 2 + 4, name, 'end'));
    used.forEach((peer, i) => {
      if (!times[peer]) return;
      const ratio = times[peer] / times[own], from = Math.min(place(1), place(ratio));
      const wide = Math.abs(place(ratio) - place(1));
      body.push(`<rect x="${from.toFixed(1)}" y="${y + i * bar}" width="${wide.toFixed(1)}" height="${bar - 1}" fill="${colours[peer]}"/>`,
        text((place(Math.max(ratio, 1)) + 4).toFixed(1), y + i * bar + 8, brief(ratio), 'start', 'small'));
    });
  });
  body.push(text(left, bottom + 18, 'time divided by that of tessera: to the right of 1× tessera is faster', 'start', 'small'));
  return page(right + 50, bottom + 28, body);
}

// Lines of times over sizes, a panel for each group, both axes logarithmic.
export function lines(groups, results) {
  const width = 380, height = 260, body = [];
  const peers = Object.keys(colours).filter((peer) => results.some(({ times }) => times[peer]));
  peers.forEach((peer, i) => {
    body.push(`<rect x="${60 + (i % 4) * 175}" y="${8 + Math.floor(i / 4) * 16}" width="10" height="10" fill="${colours[peer]}"/>`,
      text(75 + (i % 4) * 175, 17 + Math.floor(i / 4) * 16, peer));
  });
  groups.forEach(({ title, axis, workloads }, panel) => {
    const points = workloads.map(({ name, x }) => ({ x, times: results.find((result) => result.name === name)?.times ?? {} }));
    const times = points.flatMap((point) => Object.values(point.times));
    if (times.length === 0) return;
    const span = (values) => [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
    const [x0, x1] = span(points.map(({ x }) => x)), [y0, y1] = span(times), left = 72 + panel * (width + 50), top = 70;
    const at = (x) => left + ((Math.log10(x) - x0) / (x1 - x0)) * (width - 30);
    const up = (y) => top + height - ((Math.log10(y) - y0) / (y1 - y0)) * height;
    body.push(text(left, top - 14, title));
    for (let e = x0; e <= x1; e++)
      body.push(line(at(10 ** e), at(10 ** e), top, top + height),
        text(at(10 ** e), top + height + 14, (10 ** e).toLocaleString('en'), 'middle', 'small'));
    for (let e = y0; e <= y1; e++)
      body.push(line(left, left + width - 30, up(10 ** e), up(10 ** e)), text(left - 6, up(10 ** e) + 4, `${10 ** e} ms`, 'end', 'small'));
    body.push(text(left + (width - 30) / 2, top + height + 30, axis, 'middle', 'small'));
    for (const peer of peers) {
      const known = points.filter((point) => point.times[peer]);
      const path = known.map(({ x, times: { [peer]: ms } }) => `${at(x).toFixed(1)},${up(ms).toFixed(1)}`);
      body.push(`<polyline points="${path.join(' ')}" fill="none" stroke="${colours[peer]}" stroke-width="2"/>`);
    }
  });
  return page(groups.length * (width + 50) + 62, height + 110, body);
}
