// The page around video_filter_page.wasm. Its address may have filter=blur,sobel, size=960x540 and frames=30, after which
// it stops and says in its title that it is done.
const query = new URLSearchParams(location.search);
const [width, height] = (query.get('size') ?? '960x540').split('x').map(Number);
const lastFrame = +(query.get('frames') ?? Infinity);
const element = (id) => document.getElementById(id);
let chosen = (query.get('filter') ?? 'cartoon').split(',').filter((name) => name);
let source = { kind: 'scene' };
let device = '', frame = 0, pixels = 0;
const times = []; // of the last frames: { host, whole } in milliseconds

function trouble(text) {
  element('trouble').textContent = text;
  if (text) console.log(text);
}
// Calls the program; what it throws is shown, and gives undefined.
function call(name, types = [], values = []) {
  const text = Module.ccall(name, 'string', types, values);
  if (!text.startsWith('! ')) return text;
  trouble(text.slice(2));
  return undefined;
}

function setFilters() {
  trouble('');
  if (call('page_set', ['number', 'number', 'string'], [width, height, chosen.join(',') || 'none']) === undefined) chosen = [];
  for (const button of element('filters').querySelectorAll('button')) {
    const at = chosen.indexOf(button.value);
    button.classList.toggle('chosen', at >= 0);
    button.textContent = at >= 0 && chosen.length > 1 ? `${at + 1} ${button.value}` : button.value;
  }
  times.length = 0;
}

function makeButtons() {
  for (const line of call('page_filters').split('\n')) {
    const [name, what] = line.split('\t');
    if (name == 'none') continue;
    const button = document.createElement('button');
    Object.assign(button, { value: name, title: what, textContent: name });
    button.onclick = () => {
      chosen = chosen.includes(name) ? chosen.filter((other) => other != name) : [...chosen, name];
      setFilters();
    };
    element('filters').append(button);
  }
}

function useSource(next, chosenElement) {
  if (source.stream) for (const track of source.stream.getTracks()) track.stop();
  source = next;
  for (const other of document.querySelectorAll('[data-source], .button')) other.classList.toggle('chosen', other == chosenElement);
}
function play(video) {
  Object.assign(video, { muted: true, loop: true, playsInline: true });
  return video.play();
}
async function useCamera(button) {
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ video: { width, height } });
    const video = document.createElement('video');
    video.srcObject = stream;
    await play(video);
    useSource({ kind: 'camera', picture: video, stream }, button);
  } catch (error) {
    trouble(`The camera cannot be used (${error.message}); the page goes on without it.`);
  }
}
async function useFile(file, button) {
  if (!file) return;
  try {
    if (file.type.startsWith('image/')) return useSource({ kind: 'file', picture: await createImageBitmap(file) }, button);
    const video = document.createElement('video');
    video.src = URL.createObjectURL(file);
    await play(video);
    useSource({ kind: 'file', picture: video }, button);
  } catch (error) {
    trouble(`${file.name} cannot be shown: ${error.message}`);
  }
}

// The pixels of the source in the program's memory; 0 for the built-in scene.
const reader = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
function readPixels() {
  const { picture } = source;
  if (!picture) return 0;
  const w = picture.videoWidth || picture.width, h = picture.videoHeight || picture.height;
  const scale = Math.max(width / w, height / h);
  reader.drawImage(picture, (width - w * scale) / 2, (height - h * scale) / 2, w * scale, h * scale);
  pixels ||= Module._malloc(4 * width * height);
  HEAPU8.set(reader.getImageData(0, 0, width, height).data, pixels);
  return pixels;
}

function plot() {
  const canvas = element('plot'), context = canvas.getContext('2d'), highest = Math.max(20, ...times.map((t) => t.whole));
  context.clearRect(0, 0, canvas.width, canvas.height);
  const step = canvas.width / 120;
  times.forEach(({ host, whole }, i) => {
    for (const [value, colour] of [[whole, '#39507d'], [host, '#7fd1a0']]) {
      context.fillStyle = colour;
      context.fillRect(i * step, canvas.height * (1 - value / highest), step - 1, canvas.height * value / highest);
    }
  });
  const mean = (name) => (times.reduce((sum, time) => sum + time[name], 0) / Math.max(1, times.length)).toFixed(1);
  element('status').textContent = `WebGL2 on ${device} · ${width} x ${height} · frame ${frame} · ${mean('whole')} ms a frame, ` +
    `${mean('host')} ms of them the program's`;
}

let last = 0;
function eachFrame(now) {
  const host = call('page_draw', ['number', 'number'], [++frame, readPixels()]);
  if (host === undefined) { document.title = 'failed'; return; }
  if (last) times.push({ host: +host, whole: now - last });
  if (times.length > 120) times.shift();
  last = now;
  if (frame % 10 == 0 || frame >= lastFrame) plot();
  if (frame < lastFrame) return requestAnimationFrame(eachFrame);
  console.log(element('status').textContent);
  console.log(call('page_stats'));
  document.title = 'done';
}

function start() {
  device = call('page_open', ['string'], ['#canvas']);
  if (device === undefined) { document.title = 'failed'; return; }
  setFilters();
  requestAnimationFrame(eachFrame);
}

for (const name of ['canvas']) Object.assign(element(name), { width, height });
element('canvas').addEventListener('webglcontextlost', (event) => { event.preventDefault(); trouble('The browser has taken the WebGL2 context away.'); });
element('canvas').addEventListener('webglcontextrestored', () => { trouble(''); start(); });
document.querySelector('[data-source=scene]').onclick = (event) => useSource({ kind: 'scene' }, event.target);
document.querySelector('[data-source=camera]').onclick = (event) => useCamera(event.target);
element('file').onchange = (event) => useFile(event.target.files[0], event.target.parentElement);

var Module = {
  print: (text) => console.log(text), printErr: (text) => console.log(text),
  onRuntimeInitialized: () => { makeButtons(); start(); if (query.get('source') == 'camera') useCamera(document.querySelector('[data-source=camera]')); },
};
