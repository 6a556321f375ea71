// page_test.mjs FOLDER RESULTS.json [TEST]: the video filter's page in a headless Chromium. The results are in the form of
// GoogleTest's.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Chromium, serve } from './chromium.mjs';

const [folder, file, only] = process.argv.slice(2);
const server = await serve(folder), address = `http://localhost:${server.address().port}/`;
const browser = await Chromium.start();
browser.onMessage = (text) => console.log(`   ${text}`);

const equal = (got, wanted, what) => {
  const [a, b] = [got, wanted].map((value) => JSON.stringify(value));
  if (a !== b) throw new Error(`${what}: ${a} is not ${b}`);
};
async function open(query) {
  await browser.open(`${address}?size=96x54&${query}`);
  const state = query.includes('frames=') ? 'document.documentElement.dataset.state' : 'document.querySelector("#chain .chip, #chain .empty") && "runs"';
  equal(await browser.until(state, 120), query.includes('frames=') ? 'done' : 'runs', query);
}
const notice = () => browser.evaluate('document.getElementById("notice").textContent');
const pressed = () => browser.evaluate('[...document.querySelectorAll("[data-backend][aria-pressed=true]")].map((b) => b.dataset.backend)');
const chain = () => browser.evaluate('[...document.querySelectorAll("#chain .chip")].map((chip) => chip.textContent)');
const pixels = () => browser.evaluate(`(() => {
  const canvas = document.querySelector('#first canvas');
  return [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data];
})()`);

const tests = {
  async drawsTheSameOnBothBackends() {
    await open('backend=webgl&filter=sepia,blur&frames=3');
    const webgl = await pixels();
    equal(await pressed(), ['webgl'], 'backend');
    await open('backend=webgpu&filter=sepia,blur&frames=3');
    const webgpu = await pixels();
    equal(await pressed(), ['webgpu'], 'backend');
    equal(new Set(webgl).size > 50, true, 'a picture with some colours');
    equal(webgl.findIndex((value, i) => Math.abs(value - webgpu[i]) > 2), -1, 'first byte that differs');
  },
  async goesOnWithLiveTensorsAfterSwitching() {
    await open('backend=webgl&filter=denoise&frames=7'); // which looks back on frames that were on the other backend
    const without = await pixels();
    await open('backend=webgl&filter=denoise&frames=7&switches=3');
    const after = await pixels();
    equal(without.findIndex((value, i) => Math.abs(value - after[i]) > 2), -1, 'first byte that differs');
  },
  async showsBothSideBySideWithTheirDifference() {
    await open('backend=compare&filter=cartoon&frames=4');
    const text = await browser.evaluate('document.querySelector("#difference figcaption").textContent');
    equal(+text.match(/at most (\d+)/)[1] <= 2, true, text);
  },
  async takesPicturesOfACamera() {
    await open('backend=webgl&source=camera&filter=none&frames=8');
    equal(await browser.evaluate('document.querySelector("[data-source=camera]").getAttribute("aria-pressed")'), 'true', 'camera');
    equal(new Set(await pixels()).size > 20, true, 'a picture with some colours');
  },
  async chainsFiltersByKeysAndByDragging() {
    await open('backend=webgl&filter=sepia');
    const key = (name) => browser.evaluate(`document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '${name}', bubbles: true }))`);
    await key('3');
    equal(await chain(), ['sepia', 'blur'], 'after the key of blur');
    const drag = (from, to) => browser.evaluate(`(() => {
      const middle = (element) => { const box = element.getBoundingClientRect(); return { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }; };
      const source = ${from}, begin = middle(source), end = ${to};
      const tell = (type, place) => source.dispatchEvent(new PointerEvent(type, { bubbles: true, button: 0, ...place }));
      tell('pointerdown', begin); tell('pointermove', { clientX: begin.clientX + 20, clientY: begin.clientY }); tell('pointermove', end); tell('pointerup', end);
    })()`);
    const first = '{ clientX: document.getElementById("chain").getBoundingClientRect().left + 4, clientY: middle(document.querySelector("#chain li")).clientY }';
    await drag('[...document.querySelectorAll("#palette .chip")].find((chip) => chip.title == "edges")', first);
    equal(await chain(), ['sobel', 'sepia', 'blur'], 'after dragging sobel to the front');
    await drag('document.querySelectorAll("#chain .chip")[2]', first);
    equal(await chain(), ['blur', 'sobel', 'sepia'], 'after dragging blur to the front');
    await drag('document.querySelectorAll("#chain .chip")[1]', '{ clientX: 2, clientY: 2 }');
    equal(await chain(), ['blur', 'sepia'], 'after dragging sobel away');
    await key('Backspace');
    equal(await chain(), ['blur'], 'after Backspace');
  },
  async goesOnAfterItsDeviceWasLost() {
    for (const backend of ['webgl', 'webgpu']) {
      await open(`backend=${backend}&filter=denoise,sepia`);
      await browser.until('document.querySelector("#times").textContent || null', 60);
      await browser.evaluate(`document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'l', bubbles: true }))`);
      const told = await browser.until('document.getElementById("notice").textContent || null', 60);
      equal(/lost/.test(told), true, told);
      const before = await pixels();
      let now = before;
      for (let turn = 0; turn < 100 && now.every((value, i) => value == before[i]); ++turn) {
        await new Promise((resolve) => setTimeout(resolve, 200));
        now = await pixels();
      }
      equal(now.some((value, i) => value != before[i]), true, `${backend}: later frames differ`);
      equal(new Set(now).size > 50, true, `${backend}: a picture with some colours`);
      equal(await browser.evaluate('document.documentElement.dataset.state ?? "runs"'), 'runs', backend);
    }
  },
  async saysWhatIsMissingAndGoesOn() { // the last test: it takes things away from the browser
    await browser.beforeScripts('for (const name of ["gpu", "mediaDevices"]) Object.defineProperty(Navigator.prototype, name, { get: () => undefined });');
    await open('backend=webgpu&filter=sepia&frames=3');
    equal(/no WebGPU/.test(await notice()), true, await notice());
    equal(await pressed(), ['webgl'], 'backend');
    await open('backend=webgl&source=camera&filter=sepia&frames=3');
    equal(/no camera/.test(await notice()), true, await notice());
    equal(new Set(await pixels()).size > 20, true, 'a picture with some colours');
  },
};

const cases = [];
for (const [name, run] of Object.entries(tests)) {
  if (only && name != only) continue;
  const failure = await run().then(() => '', (error) => error.message);
  console.log(`${failure ? 'FAILED' : 'ok'}  ${name}${failure ? `: ${failure}` : ''}`);
  cases.push({ name, status: 'RUN', result: 'COMPLETED', ...(failure ? { failures: [{ failure }] } : {}) });
}
await browser.close();
server.close();
const failures = cases.filter((one) => one.failures).length;
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, JSON.stringify({ tests: cases.length, failures, disabled: 0, testsuites: [{ name: 'page', testsuite: cases }] }, null, 2));
process.exitCode = failures == 0 ? 0 : 1;
