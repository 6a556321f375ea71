// The program in WebAssembly: one call after the other, since a call that waits for the device suspends it.
import createProgram from './video_filter_page.js';

// What the networks of these filters are made of; fetched when such a filter is first chosen.
const networks = {
  background: ['selfie/selfie.json', 'selfie/selfie.bin'],
  upscale: ['esrgan-slim-x2/model.json', 'esrgan-slim-x2/group1-shard1of1.bin'],
};

export class Program {
  #module; #turn = Promise.resolve(); #fetched = new Map();

  static async load(onMessage) {
    const program = new Program();
    program.#module = await createProgram({ print: onMessage, printErr: onMessage });
    return program;
  }

  // Calls page_NAME with numbers and texts; gives its text, or throws what it says.
  call(name, ...values) {
    const types = values.map((value) => typeof value);
    const result = this.#turn.then(() => this.#module.ccall(`page_${name}`, 'string', types, values, { async: true }))
      .then((text) => {
        if (text.startsWith('! ')) throw new Error(text.slice(2));
        return text;
      });
    this.#turn = result.catch(() => {});
    return result;
  }

  async filters() {
    return (await this.call('filters')).split('\n').map((line) => line.split('\t')).map(([name, what]) => ({ name, what }));
  }

  // The tables in which WebGL's and WebGPU's objects have numbers.
  get gl() { return this.#module.GL; }
  get gpu() { return this.#module.tesseraGpu; }

  // Puts the networks of these filters where the program finds them. Throws where the page's folder lacks one: the
  // program goes on without it.
  async fetchNetworks(filters) {
    const files = filters.flatMap((filter) => networks[filter] ?? []);
    await Promise.all(files.map((file) => {
      if (!this.#fetched.has(file)) this.#fetched.set(file, this.#fetchNetwork(file));
      return this.#fetched.get(file);
    }));
  }
  async #fetchNetwork(file) {
    const response = await fetch(`models/${file}`);
    if (!response.ok) throw new Error(`The page has no models/${file}: the filter does without its network.`);
    const path = `/models/${file}`;
    this.#module.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')));
    this.#module.FS.writeFile(path, new Uint8Array(await response.arrayBuffer()));
  }
}
