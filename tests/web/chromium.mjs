// A headless Chromium, driven over its debugging pipe: nothing but Node is needed.
import { spawn } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';

const types = {
  '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript',
  '.json': 'application/json', '.png': 'image/png', '.wasm': 'application/wasm',
};

// Serves a folder on this machine only; gives the server, whose port is `port` or a free one. Each answer has these headers.
export function serve(folder, port = 0, headers = {}) {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    let file = join(folder, path);
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, 'index.html');
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { ...headers, 'content-type': types[extname(file)] ?? 'application/octet-stream', 'cache-control': 'no-cache' });
    createReadStream(file).pipe(response);
  });
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, 'localhost', () => resolve(server));
  });
}

// SwiftShader for both APIs, as every machine has it.
const flags = [
  '--headless=new', '--remote-debugging-pipe', '--no-first-run', '--no-sandbox', '--disable-dev-shm-usage', '--mute-audio',
  '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan', '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream', '--disable-gpu-watchdog',
];

export class Chromium {
  #process; #profile; #next = 0; #answers = new Map(); #rest = ''; #session; #page;
  onMessage = () => {};
  get pid() { return this.#process.pid; }

  static async start({ width = 1280, height = 900, more = [] } = {}) {
    const browser = new Chromium();
    browser.#profile = mkdtempSync(join(tmpdir(), 'tessera-chromium-'));
    browser.#process = spawn(process.env.CHROMIUM ?? 'chromium',
      [...flags, `--user-data-dir=${browser.#profile}`, `--window-size=${width},${height}`, ...more, 'about:blank'],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    browser.#process.on('exit', () => {
      for (const { reject } of browser.#answers.values()) reject(new Error('Chromium has ended'));
    });
    browser.#process.on('error', (error) => { for (const { reject } of browser.#answers.values()) reject(error); });
    browser.#process.stdio[4].on('data', (data) => browser.#receive(data));
    const { targetId } = await browser.#call('Target.createTarget', { url: 'about:blank' }, null);
    browser.#session = (await browser.#call('Target.attachToTarget', { targetId, flatten: true }, null)).sessionId;
    await browser.#call('Runtime.enable');
    await browser.#call('Page.enable');
    return browser;
  }

  #receive(data) {
    const parts = (this.#rest + data).split('\0');
    this.#rest = parts.pop();
    for (const message of parts.map((part) => JSON.parse(part))) {
      const answer = this.#answers.get(message.id);
      this.#answers.delete(message.id);
      if (answer) message.error ? answer.reject(new Error(message.error.message)) : answer.resolve(message.result);
      if (message.method == 'Runtime.consoleAPICalled')
        this.onMessage(message.params.args.map((a) => a.value ?? a.description ?? '').join(' '));
      if (message.method == 'Runtime.exceptionThrown') {
        const details = message.params.exceptionDetails;
        this.onMessage(`! ${details.exception?.description ?? details.text}`);
      }
      if (message.method == 'Inspector.targetCrashed') this.onMessage('! the page has crashed');
    }
  }

  #call(method, params = {}, session = this.#session) {
    return new Promise((resolve, reject) => {
      const id = ++this.#next;
      this.#answers.set(id, { resolve, reject });
      this.#process.stdio[3].write(JSON.stringify({ id, method, params, ...(session ? { sessionId: session } : {}) }) + '\0');
    });
  }

  // The size of the page, as that of a window or, with fingers, of a phone.
  async resize(width, height, isPhone = false) {
    await this.#call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: isPhone ? 2 : 1, mobile: isPhone });
    await this.#call('Emulation.setTouchEmulationEnabled', { enabled: isPhone });
  }
  // Runs this in each page before its own scripts.
  beforeScripts(source) { return this.#call('Page.addScriptToEvaluateOnNewDocument', { source }); }
  open(url) { return this.#call('Page.navigate', { url }); }
  async evaluate(expression) {
    const { result } = await this.#call('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    return result.value;
  }
  // Waits until the expression is not null in the page, and gives its value; undefined after `seconds`.
  async until(expression, seconds) {
    const end = Date.now() + 1000 * seconds;
    while (Date.now() < end) {
      let timer; // a page that computes does not answer
      const late = new Promise((resolve) => { timer = setTimeout(resolve, Math.max(1, end - Date.now())); });
      const value = await Promise.race([this.evaluate(expression), late]);
      clearTimeout(timer);
      if (value != null) return value;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return undefined;
  }
  async screenshot() { return Buffer.from((await this.#call('Page.captureScreenshot', { format: 'png' })).data, 'base64'); }
  async close() {
    const ended = new Promise((resolve) => this.#process.on('exit', resolve));
    this.#call('Browser.close', {}, null).catch(() => {});
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), 3000);
    await ended;
    clearTimeout(timer);
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
