// drive.mjs FOLDER [--headless PICTURES [--browser chromium|firefox] [QUERY...]]: serves the page on this machine and says
// its address; with --headless, opens it in a browser without a window instead and takes pictures of it, with these queries
// or with those below.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chromium, serve } from '../../tests/web/chromium.mjs';
import { Firefox } from '../../tests/web/firefox.mjs';

const pictures = [
  { name: 'webgl', query: 'backend=webgl&filter=cartoon&frames=40&size=480x270' },
  { name: 'webgpu', query: 'backend=webgpu&filter=cartoon&frames=40&size=480x270' },
  { name: 'switching', query: 'backend=webgl&filter=denoise,sobel,vignette&frames=45&switches=4&size=480x270' },
  { name: 'compare', query: 'backend=compare&filter=sharpen,cartoon&frames=8&size=480x270' },
  { name: 'background_webgl', query: 'backend=webgl&filter=background&source=portrait&frames=6&size=480x270' },
  { name: 'background_webgpu', query: 'backend=webgpu&filter=background&source=portrait&frames=6&size=480x270' },
  { name: 'upscale', query: 'backend=webgpu&filter=upscale&frames=2&size=96x54' },
  { name: 'camera', query: 'backend=webgl&filter=pixelate&source=camera&frames=20&size=480x270' },
  { name: 'phone', query: 'backend=webgl&filter=sepia,vignette&frames=30', isPhone: true },
  { name: 'phone_compare', query: 'backend=compare&filter=sharpen&frames=4', isPhone: true },
];

const [folder, headless, target, ...rest] = process.argv.slice(2);
const browserName = rest[0] == '--browser' ? rest.splice(0, 2)[1] : 'chromium';
const browsers = { chromium: Chromium, firefox: Firefox };
if (!browsers[browserName]) throw new Error(`There is no browser '${browserName}': chromium, firefox.`);
const server = await serve(folder, headless ? 0 : +(process.env.PORT ?? 8000)).catch(() => serve(folder));
const address = `http://localhost:${server.address().port}/`;

async function take(browser, { name, query, isPhone = false }) {
  await browser.resize(isPhone ? 390 : 1280, isPhone ? 844 : 800, isPhone);
  await browser.open(`${address}?${query}`);
  const state = await browser.until('document.documentElement.dataset.state', 150) ?? 'not done in time';
  const file = join(target, `${browserName}_${name}.png`);
  writeFileSync(file, await browser.screenshot());
  const seen = await browser.evaluate('[...document.querySelectorAll("figcaption, #notice")].map((e) => e.textContent).filter((t) => t).join("; ")');
  console.log(`${state == 'done' ? '' : '! '}${file.split('/').at(-1)}: ${state}; ${seen}; ${await browser.evaluate('document.getElementById("times").textContent')}`);
  if (state != 'done') process.exitCode = 1;
}

if (!headless) {
  console.log(`== The page is at ${address}; Ctrl-C ends it`);
} else {
  mkdirSync(target, { recursive: true });
  const browser = await browsers[browserName].start();
  browser.onMessage = (text) => console.log(`   ${text}`);
  const wanted = rest.length ? rest.map((query, i) => ({ name: `page_${i}`, query: query.replace(/^\?/, '') })) : pictures;
  for (const picture of wanted) await take(browser, picture);
  await browser.close();
  server.close();
}
