// How a picture comes to the screen. Each backend takes the frame of a camera or file as a texture, without passing it
// through the program's memory, and shows what the program drew on a canvas of the page.

// WebGL2: the program draws to the hidden canvas of its own context, which the page copies.
class WebGlScreen {
  #gl; #program; #source = null; #name = 0; #size = [0, 0];

  constructor(program, handle) {
    this.#program = program;
    this.#gl = program.gl.getContext(handle).GLctx;
  }

  resize(width, height) { Object.assign(this.#gl.canvas, { width, height }); }

  // Gives the number of a texture with this picture. The context is the program's: its bindings stay as they were.
  upload(picture, width, height) {
    const gl = this.#gl, table = this.#program.gl;
    const bound = gl.getParameter(gl.TEXTURE_BINDING_2D);
    if (!this.#source || this.#size[0] != width || this.#size[1] != height) {
      this.dispose();
      this.#size = [width, height];
      this.#source = gl.createTexture();
      this.#name = this.#source.name = table.getNewId(table.textures);
      table.textures[this.#name] = this.#source;
      gl.bindTexture(gl.TEXTURE_2D, this.#source);
      gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, width, height);
    }
    gl.bindTexture(gl.TEXTURE_2D, this.#source);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, picture);
    gl.bindTexture(gl.TEXTURE_2D, bound);
    return this.#name;
  }

  get target() { return 0; }
  async show(to) { to.drawImage(this.#gl.canvas, 0, 0); }
  lose() { this.#gl.getExtension('WEBGL_lose_context').loseContext(); }

  dispose() {
    if (!this.#source) return;
    this.#program.gl.textures[this.#name] = null;
    this.#gl.deleteTexture(this.#source);
    this.#source = null;
  }
}

// WebGPU: the program draws into a texture of the page's, from which it goes to a canvas; or through the page's memory,
// in browsers without a window, whose WebGPU draws to no canvas.
class WebGpuScreen {
  #gpu; #device; #source = null; #sourceName = 0; #target = null; #name = 0; #canvas; #canvasContext; #reachesCanvas; #done = [];

  constructor(program, handle) {
    this.#gpu = program.gpu;
    this.#device = program.gpu.objects[handle];
    this.#canvas = new OffscreenCanvas(1, 1);
    this.#canvasContext = this.#canvas.getContext('webgpu');
    this.#canvasContext.configure({
      device: this.#device, format: 'rgba8unorm', usage: GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_DST,
    });
  }

  #take(descriptor) {
    const texture = this.#device.createTexture({ format: 'rgba8unorm', ...descriptor });
    return [texture, this.#gpu.add(texture)];
  }
  #drop(texture, name) {
    if (!texture) return;
    this.#gpu.remove(name);
    texture.destroy();
  }

  resize(width, height) {
    if (this.#target && this.#target.width == width && this.#target.height == height) return;
    this.#drop(this.#target, this.#name);
    const usage = GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_SRC;
    [this.#target, this.#name] = this.#take({ size: [width, height], usage });
    Object.assign(this.#canvas, { width, height });
  }

  upload(picture, width, height) {
    if (!this.#source || this.#source.width != width || this.#source.height != height) {
      this.#drop(this.#source, this.#sourceName);
      const usage = GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST | GPUTextureUsage.RENDER_ATTACHMENT;
      [this.#source, this.#sourceName] = this.#take({ size: [width, height], usage });
    }
    this.#device.queue.copyExternalImageToTexture({ source: picture }, { texture: this.#source }, [width, height]);
    return this.#sourceName;
  }

  get target() { return this.#name; }
  lose() { this.#device.destroy(); }

  async show(to) {
    this.#reachesCanvas ??= this.#triesCanvas();
    const { width, height } = this.#target;
    if (!this.#reachesCanvas) return to.putImageData(await this.#read(width, height), 0, 0);
    const encoder = this.#device.createCommandEncoder();
    encoder.copyTextureToTexture({ texture: this.#target }, { texture: this.#canvasContext.getCurrentTexture() }, [width, height]);
    this.#device.queue.submit([encoder.finish()]);
    to.drawImage(this.#canvas, 0, 0);
    // A browser takes any number of frames ahead of the device: two are enough.
    this.#done.push(this.#device.queue.onSubmittedWorkDone());
    if (this.#done.length > 2) await this.#done.shift();
  }

  // Whether a colour that WebGPU draws arrives where a canvas is copied to.
  #triesCanvas() {
    const encoder = this.#device.createCommandEncoder();
    encoder.beginRenderPass({
      colorAttachments: [{
        view: this.#canvasContext.getCurrentTexture().createView(), loadOp: 'clear', storeOp: 'store', clearValue: [0, 1, 0, 1],
      }],
    }).end();
    this.#device.queue.submit([encoder.finish()]);
    const pixel = new OffscreenCanvas(1, 1).getContext('2d');
    pixel.drawImage(this.#canvas, 0, 0);
    return pixel.getImageData(0, 0, 1, 1).data[1] == 255;
  }

  async #read(width, height) {
    const bytesPerRow = Math.ceil(width / 64) * 256;
    const buffer = this.#device.createBuffer({
      size: bytesPerRow * height, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ,
    });
    const encoder = this.#device.createCommandEncoder();
    encoder.copyTextureToBuffer({ texture: this.#target }, { buffer, bytesPerRow }, [width, height]);
    this.#device.queue.submit([encoder.finish()]);
    await buffer.mapAsync(GPUMapMode.READ).catch((error) => this.#explain(error));
    const rows = new Uint8Array(buffer.getMappedRange()), image = new ImageData(width, height);
    for (let y = 0; y < height; ++y) image.data.set(rows.subarray(y * bytesPerRow, y * bytesPerRow + 4 * width), 4 * width * y);
    buffer.destroy();
    return image;
  }

  // A device that goes takes its buffers with it, and may tell of them before it tells of itself.
  async #explain(error) {
    const later = new Promise((resolve) => setTimeout(resolve, 500));
    const info = await Promise.race([this.#device.lost, later]);
    throw info ? new Error(`The device was lost: ${info.message}`) : error;
  }

  dispose() {
    this.#drop(this.#source, this.#sourceName);
    this.#drop(this.#target, this.#name);
    this.#source = this.#target = null;
  }
}

export class View {
  #program; #index; #canvas; #context; #screen = null;
  backend = ''; device = ''; isSet = false;

  constructor(program, index, canvas) {
    Object.assign(this, { canvas });
    this.#program = program;
    this.#index = index;
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d', { alpha: false });
  }

  // Opens the view on a backend, or moves it there with all tensors that are alive.
  async use(backend) {
    if (backend == this.backend) return;
    const before = this.#screen;
    this.device = await this.#program.call('use', this.#index, backend);
    before?.dispose();
    this.backend = backend;
    await this.reopen();
  }

  // After the device was lost: the program has another one then, with every tensor, and the page's textures are gone.
  async reopen() {
    const handle = +await this.#program.call('handle', this.#index);
    this.#screen = this.backend == 'webgpu' ? new WebGpuScreen(this.#program, handle) : new WebGlScreen(this.#program, handle);
    if (this.isSet) this.#screen.resize(this.#canvas.width, this.#canvas.height);
  }
  lose() { this.#screen.lose(); }

  async set(width, height, filters) {
    const size = await this.#program.call('set', this.#index, width, height, filters.join(',') || 'none');
    const [shownWidth, shownHeight] = size.split('x').map(Number);
    if (this.#canvas.width != shownWidth || this.#canvas.height != shownHeight)
      Object.assign(this.#canvas, { width: shownWidth, height: shownHeight });
    this.#screen.resize(shownWidth, shownHeight);
    this.isSet = true;
  }

  // Draws a frame; gives the milliseconds of the program's. `picture` is null for the built-in scene.
  async draw(number, picture) {
    const { image = null, width = 0, height = 0 } = picture ?? {};
    const source = image ? this.#screen.upload(image, width, height) : 0;
    const host = +await this.#program.call('draw', this.#index, number, source, width, height, this.#screen.target);
    await this.#screen.show(this.#context);
    return host;
  }

  stats() { return this.#program.call('stats', this.#index); }

  async close() {
    if (!this.backend) return;
    this.#screen.dispose();
    this.backend = '';
    this.isSet = false;
    await this.#program.call('close', this.#index);
  }
}

// What differs between two canvases, 16 times as strong; gives the most that a colour differs by, of 255.
export function showDifference(to, a, b) {
  Object.assign(to, { width: a.width, height: a.height });
  const context = to.getContext('2d', { alpha: false, willReadFrequently: true });
  context.globalCompositeOperation = 'copy';
  context.drawImage(a, 0, 0);
  context.globalCompositeOperation = 'difference';
  context.drawImage(b, 0, 0);
  const { data } = context.getImageData(0, 0, to.width, to.height);
  let most = 0;
  for (let i = 0; i < data.length; i += 4) most = Math.max(most, data[i], data[i + 1], data[i + 2]);
  context.globalCompositeOperation = 'lighter';
  for (let turn = 0; turn < 4; ++turn) context.drawImage(to, 0, 0);
  return most;
}
