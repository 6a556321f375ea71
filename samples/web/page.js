// The video filter in a page. Its address may have filter=blur,sobel, backend=webgl, webgpu or compare, size=960x540,
// source=camera or portrait, switches=3, so many changes of the backend on the way, and frames=30, after which it stops.
import { Chain } from './chain.js';
import { Plot } from './plot.js';
import { Program } from './program.js';
import { openCamera, openFile, openPicture, scene } from './sources.js';
import { showDifference, View } from './views.js';

const query = new URLSearchParams(location.search);
const element = (id) => document.getElementById(id);
const [width, height] = (query.get('size') ?? (innerWidth < 600 ? '480x270' : '960x540')).split('x').map(Number);
const lastFrame = +(query.get('frames') ?? Infinity);
const switches = +(query.get('switches') ?? 0);
const names = { webgl: 'WebGL2', webgpu: 'WebGPU' };
const missing = {
  webgl: typeof WebGL2RenderingContext == 'undefined' ? 'This browser has no WebGL2.' : '',
  webgpu: navigator.gpu ? '' : isSecureContext ? 'This browser has no WebGPU, or it is switched off; WebGL2 does all the same.'
    : 'Browsers give WebGPU to pages of HTTPS or of this machine only; WebGL2 does all the same.',
};

let source = scene, frame = 0, isPaused = false, mode = '', changes = Promise.resolve(), hasChanges = false;
let program, chain, views;
const plot = new Plot(element('plot'));

function tell(text, isTrouble = true) {
  const notice = element('notice');
  notice.textContent = text;
  notice.hidden = !text;
  notice.classList.toggle('trouble', isTrouble);
  if (text) console.log(text);
}

// Changes wait for the frame that is under way, and for each other.
function change(work) {
  hasChanges = true;
  changes = changes.then(work).catch((error) => tell(error.message)).then(() => plot.mark());
  return changes;
}

async function setFilters(wanted = views) {
  try {
    await program.fetchNetworks(chain.names);
  } catch (error) {
    tell(error.message); // and goes on without
  }
  for (const view of wanted) if (view.backend) await view.set(width, height, chain.names);
}

async function useMode(next) {
  const backends = next == 'compare' ? ['webgl', 'webgpu'] : [next];
  const lacking = backends.map((backend) => missing[backend]).find((text) => text);
  if (lacking) return tell(lacking);
  try {
    if (next == 'compare') await views[1].use(views[0].backend == 'webgpu' ? 'webgl' : 'webgpu');
    else await views[0].use(next);
  } catch (error) {
    for (const backend of backends) if (views.every((view) => view.backend != backend)) missing[backend] = error.message;
    const rest = names[views[0].backend];
    return tell(`${error.message}${rest ? ` The page goes on with ${rest}.` : ''}`);
  } finally {
    showMode();
  }
  if (next != 'compare') await views[1].close();
  mode = next;
  await setFilters(views.filter((view) => view.backend && !view.isSet)); // the others go on with the tensors they have
  showMode();
}

function showMode() {
  for (const button of document.querySelectorAll('[data-backend]')) {
    const { backend } = button.dataset;
    button.setAttribute('aria-pressed', backend == mode);
    const lacking = backend == 'compare' ? missing.webgl || missing.webgpu : missing[backend];
    button.classList.toggle('missing', !!lacking);
    button.title = lacking || button.dataset.title;
  }
  element('stage').classList.toggle('compare', mode == 'compare');
  for (const [i, id] of ['first', 'second'].entries())
    element(id).querySelector('figcaption').textContent = views[i].backend ? `${names[views[i].backend]} · ${views[i].device}` : '';
}

async function useSource(open, button) {
  tell('');
  try {
    const next = await open();
    await change(() => { source.stop(); source = next; });
    for (const other of document.querySelectorAll('[data-source]')) other.setAttribute('aria-pressed', other == button);
  } catch (error) {
    tell(`${error.message} The page goes on without it.`);
  }
}

async function drawFrame() {
  const picture = source.frame();
  let host = 0;
  for (const view of views) if (view.backend) host += await view.draw(frame, picture);
  return host;
}

function showTimes() {
  const { whole, host } = plot.medians();
  element('times').textContent = `${whole.toFixed(1)} ms · ${(1000 / Math.max(whole, 0.1)).toFixed(0)} a second · program ${host.toFixed(1)} ms`;
  plot.draw();
}

function compare() {
  if (mode != 'compare') return;
  const most = showDifference(element('difference').querySelector('canvas'), views[0].canvas, views[1].canvas);
  element('difference').querySelector('figcaption').textContent = `difference × 16 · at most ${most} of 255`;
}

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

async function run() {
  let last = 0, failures = 0;
  while (frame < lastFrame) {
    const now = await nextFrame();
    if (hasChanges) {
      hasChanges = false;
      await changes;
      last = 0;
      continue;
    }
    if (isPaused) { last = 0; continue; }
    ++frame;
    try {
      const host = await drawFrame();
      if (last) plot.add(now - last, host);
      last = now;
      failures = 0;
    } catch (error) {
      tell(/was lost/.test(error.message) ? 'The device was lost; the tensors are on a new one.' : error.message);
      if (++failures > 3) throw error;
      for (const view of views) if (view.backend) await view.reopen();
      plot.mark();
    }
    if (frame % (mode == 'compare' ? 4 : 10) == 0 || frame == lastFrame) { compare(); showTimes(); }
    if (switches && frame < lastFrame && frame % Math.ceil(lastFrame / (switches + 1)) == 0)
      change(() => useMode(mode == 'webgpu' ? 'webgl' : 'webgpu'));
  }
  console.log(`${mode}: ${element('times').textContent}; ${await views[0].stats()}`);
}

const sources = { scene: () => scene, camera: () => openCamera(width, height), portrait: () => openPicture('portrait.png') };

function connect() {
  for (const button of document.querySelectorAll('[data-backend]')) {
    button.dataset.title = button.title;
    button.addEventListener('click', () => { tell(''); change(() => useMode(button.dataset.backend)); });
  }
  for (const button of document.querySelectorAll('button[data-source]'))
    button.addEventListener('click', () => useSource(sources[button.dataset.source], button));
  const fileButton = element('file').parentElement, useFile = (file) => file && useSource(() => openFile(file), fileButton);
  element('file').addEventListener('change', (event) => useFile(event.target.files[0]));
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => { event.preventDefault(); useFile(event.dataTransfer.files[0]); });
  addEventListener('keydown', (event) => {
    if (event.target.matches('input, button') && event.key == ' ') return;
    if (event.key == ' ') { isPaused = !isPaused; event.preventDefault(); }
    else if (event.key == 'b') change(() => useMode(mode == 'webgpu' ? 'webgl' : 'webgpu'));
    else if (event.key == 'l') views[0].lose(); // to see that it goes on
    else if (event.key == 'c') change(() => useMode(mode == 'compare' ? views[0].backend : 'compare'));
  });
  addEventListener('resize', () => plot.draw());
}

async function start() {
  tell('loading …', false);
  program = await Program.load((text) => console.log(text));
  const filters = (await program.filters()).filter(({ name }) => name != 'none');
  chain = new Chain(element('palette'), element('chain'), filters, (query.get('filter') ?? 'cartoon').split(','));
  chain.onChange = () => { tell(''); change(() => setFilters()); };
  views = ['first', 'second'].map((id, i) => new View(program, i, element(id).querySelector('canvas')));
  tell('');
  const wanted = query.get('backend') ?? 'webgl';
  for (const next of [wanted == 'compare' ? 'webgl' : wanted, 'webgl', 'webgpu']) if (!mode) await useMode(next);
  if (!mode) throw new Error('This browser gives the page neither WebGL2 nor WebGPU.');
  if (wanted == 'compare') await useMode('compare');
  connect();
  const asked = document.querySelector(`button[data-source="${query.get('source')}"]`);
  if (asked) await useSource(sources[asked.dataset.source], asked); // frames are counted from its first one on
  await run();
}

start().then(() => { document.documentElement.dataset.state = 'done'; }, (error) => {
  tell(error.message);
  document.documentElement.dataset.state = 'failed';
});
