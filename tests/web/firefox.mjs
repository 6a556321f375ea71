// A Firefox that nobody sees, driven by Marionette, its own protocol over a socket of this machine: nothing but Node and
// Xvfb is needed. Without a display, be it Xvfb's, Firefox has no WebGL2.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const preferences = {
  'browser.shell.checkDefaultBrowser': false, 'datareporting.policy.dataSubmissionEnabled': false, 'app.update.enabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false, 'browser.startup.homepage_override.mstone': 'ignore',
  'webgl.force-enabled': true, 'dom.webgpu.enabled': true, 'gfx.webgpu.ignore-blocklist': true, 'webgl.disable-fail-if-major-performance-caveat': true,
  'media.navigator.streams.fake': true, 'media.navigator.permission.disabled': true,
};

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function connected(port, seconds) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise((resolve) => { socket.on('connect', () => resolve(true)).on('error', () => resolve(false)); });
    if (isOpen) return socket;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`Firefox does not answer after ${seconds} s`);
}

// A display of Xvfb's: its process and its name.
async function startDisplay() {
  const xvfb = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1300x24'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const number = await new Promise((resolve, reject) => {
    xvfb.stdio[3].once('data', resolve);
    xvfb.once('error', reject).once('exit', () => reject(new Error('Xvfb has ended')));
  });
  return [xvfb, `:${String(number).trim()}`];
}

export class Firefox {
  #display; #process; #profile; #socket; #next = 0; #answers = new Map(); #rest = Buffer.alloc(0);
  onMessage = () => {}; // the page's console is not told

  static async start({ width = 1280, height = 900 } = {}) {
    const browser = new Firefox();
    const port = await freePort();
    browser.#profile = mkdtempSync(join(tmpdir(), 'tessera-firefox-'));
    const lines = Object.entries({ ...preferences, 'marionette.port': port })
      .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`);
    writeFileSync(join(browser.#profile, 'user.js'), lines.join(''));
    const [xvfb, display] = await startDisplay();
    browser.#display = xvfb;
    browser.#process = spawn(process.env.FIREFOX ?? 'firefox-esr',
      ['--marionette', '--no-remote', '--profile', browser.#profile, `--width=${width}`, `--height=${height}`, 'about:blank'],
      { stdio: 'ignore', env: { ...process.env, DISPLAY: display, MOZ_ENABLE_WAYLAND: '0' } });
    browser.#process.on('error', (error) => { console.log(`! ${error.message}`); });
    browser.#socket = await connected(port, 60);
    browser.#socket.on('data', (data) => browser.#receive(data));
    await browser.#call('WebDriver:NewSession', {});
    await browser.#call('WebDriver:SetTimeouts', { script: 600000, pageLoad: 120000 });
    await browser.resize(width, height);
    return browser;
  }

  // Messages are "LENGTH:JSON".
  #receive(data) {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      const colon = this.#rest.indexOf(':');
      const length = colon < 0 ? NaN : +this.#rest.subarray(0, colon);
      if (!(this.#rest.length >= colon + 1 + length)) return;
      const message = JSON.parse(this.#rest.subarray(colon + 1, colon + 1 + length));
      this.#rest = this.#rest.subarray(colon + 1 + length);
      if (!Array.isArray(message)) continue; // its greeting
      const [, id, error, result] = message, answer = this.#answers.get(id);
      this.#answers.delete(id);
      if (answer) error ? answer.reject(new Error(error.message)) : answer.resolve(result);
    }
  }

  #call(command, parameters = {}) {
    return new Promise((resolve, reject) => {
      const text = JSON.stringify([0, ++this.#next, command, parameters]);
      this.#answers.set(this.#next, { resolve, reject });
      this.#socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  }

  resize(width, height) { return this.#call('WebDriver:SetWindowRect', { width, height }); }
  open(url) { return this.#call('WebDriver:Navigate', { url }); }
  async evaluate(expression) {
    return (await this.#call('WebDriver:ExecuteScript', { script: `return (${expression});`, args: [] })).value;
  }
  async until(expression, seconds) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
      const value = await this.evaluate(expression);
      if (value != null) return value;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return undefined;
  }
  async screenshot() {
    return Buffer.from((await this.#call('WebDriver:TakeScreenshot', { full: false })).value, 'base64');
  }
  async close() {
    const ended = new Promise((resolve) => this.#process.on('exit', resolve));
    this.#call('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => {});
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
    this.#socket.destroy();
    this.#display.kill();
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
