// TF.js on its WebGL backend, in headless Chromium on Mesa's OpenGL ES, as a peer of compare.mjs.
//   node tfjs_webgl.mjs PACKAGES MODELS CHROMIUM
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cpuTimeOf } from './cpu_time.mjs';

const [packages, models, executablePath] = process.argv.slice(2);
const { chromium } = createRequire(join(packages, 'package.json'))('playwright-core');
const here = dirname(fileURLToPath(import.meta.url));
const scripts = ['core', 'backend-cpu', 'backend-webgl', 'layers', 'converter'];
const dist = (name) => join(packages, 'node_modules/@tensorflow', `tfjs-${name}`, 'dist', `tf-${name}.min.js`);

const profile = await mkdtemp(join(tmpdir(), 'tessera-compare-'));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath, headless: true, timeout: 60000,
  ignoreDefaultArgs: ['--disable-gpu', '--use-angle=swiftshader-webgl', '--use-gl=swiftshader'],
  args: ['--no-sandbox', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--use-gl=angle', '--use-angle=gl-egl', '--ignore-gpu-blocklist'],
});
try {
  const page = browser.pages()[0] ?? (await browser.newPage());
  // No server: what the page asks for is answered here. A page that is alone (COOP, COEP) has a fine clock.
  await page.route('**/*', (route) => {
    const path = decodeURIComponent(new URL(route.request().url()).pathname);
    const headers = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
    const give = (contentType, body) => route.fulfill({ headers, contentType, body });
    try {
      if (path === '/') return give('text/html', scripts.map((name) => `<script src="/tf/${name}"></script>`).join(''));
      if (path.startsWith('/tf/')) return give('text/javascript', readFileSync(dist(path.slice(4))));
      if (path.startsWith('/models/')) return give('application/octet-stream', readFileSync(join(models, path.slice(8))));
      return give('text/javascript', readFileSync(join(here, path)));
    } catch {
      return route.fulfill({ status: 404, body: '' });
    }
  });
  page.on('console', (message) => console.error(message.text()));
  await page.goto('http://localhost/');
  const device = await page.evaluate(async () => (globalThis.peer = await (await import('/tfjs_page.mjs')).start()).device);
  console.log(JSON.stringify({ device }));
  for await (const line of createInterface({ input: process.stdin })) {
    const before = cpuTimeOf(process.pid), answer = await page.evaluate((given) => globalThis.peer.answer(given), line);
    console.log(JSON.stringify(answer.ms ? { ...answer, cpu_ms: cpuTimeOf(process.pid) - before } : answer));
  }
} catch (error) {
  console.log(JSON.stringify({ error: error.message }));
}
await browser.close().catch(() => {});
await rm(profile, { recursive: true, force: true });
process.exit(0);
