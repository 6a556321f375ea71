// tessera in JavaScript: tensors on WebGPU, WebGL2 or the CPU. README.md begins with an example; tessera.d.ts has the types.
import createModule from './tessera_module.js';

let loading;
// The program in WebAssembly: one for all contexts of a page.
const loadModule = () => (loading ??= createModule({ print: console.log, printErr: console.warn, tesseraReads: reads }));

// The reads that are under way, by the numbers under which the program gives their elements.
const reads = new Map();
let lastRead = 0;

export class TesseraError extends Error {
  name = 'TesseraError';
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

const arrays = {
  f32: Float32Array, f16: Float32Array, i32: Int32Array, i8: Int8Array, u8: Uint8Array, boolean: Uint8Array,
};
const dtypeOf = (elements) => Object.keys(arrays).find((dtype) => dtype != 'f16' && elements instanceof arrays[dtype])
  ?? (elements instanceof Uint8ClampedArray ? 'u8' : undefined);

// What was not disposed is let go with the garbage collector's next round.
const forgotten = new FinalizationRegistry(({ context, id }) => context._dispose(id));

// What of an image's upload depends on the state of a WebGL2 context that is not ours.
const uploadState = [
  ['UNPACK_FLIP_Y_WEBGL', false], ['UNPACK_PREMULTIPLY_ALPHA_WEBGL', false], ['UNPACK_ALIGNMENT', 4], ['UNPACK_ROW_LENGTH', 0],
  ['UNPACK_SKIP_ROWS', 0], ['UNPACK_SKIP_PIXELS', 0], ['UNPACK_IMAGE_HEIGHT', 0], ['UNPACK_SKIP_IMAGES', 0],
];
function withPlainUploads(gl, work) {
  const before = uploadState.map(([name]) => gl.getParameter(gl[name]));
  const conversion = gl.getParameter(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL);
  const texture = gl.getParameter(gl.TEXTURE_BINDING_2D), buffer = gl.getParameter(gl.PIXEL_UNPACK_BUFFER_BINDING);
  for (const [name, value] of uploadState) gl.pixelStorei(gl[name], value);
  gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.BROWSER_DEFAULT_WEBGL);
  gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, null);
  try {
    return work();
  } finally {
    gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, buffer);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    uploadState.forEach(([name], i) => gl.pixelStorei(gl[name], before[i]));
    gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, conversion);
  }
}

const sizeOfImage = (image) => [
  image.videoWidth || image.naturalWidth || image.displayWidth || image.width,
  image.videoHeight || image.naturalHeight || image.displayHeight || image.height,
];

export class Tensor {
  constructor(context, { id, shape, dtype }) {
    Object.assign(this, { context, shape, dtype });
    this._id = id;
    forgotten.register(this, { context, id }, this);
  }
  get size() { return this.shape.reduce((product, size) => product * size, 1); }

  // Runs what leads to this tensor, and does not wait for it.
  compute() {
    this.context._number('compute', ['number'], [this._id]);
    return this;
  }
  read() { return this.context._read(this); }
  toTexture(target, options = {}) { this.context._toTexture(this, target, options); }
  toCanvas(options = {}) { this.context._toCanvas(this, options); }
  toBuffer(buffer, { offset = 0 } = {}) {
    this.context._withObject(buffer, (id) => this.context._number('to_buffer', ['number', 'number', 'number'], [this._id, id, offset]));
  }
  gpuData() { return this.context._gpuData(this); }

  dispose() {
    if (this._id === 0) return;
    forgotten.unregister(this);
    this.context._dispose(this._id);
    this._id = 0;
  }
}

export class Model {
  constructor(context, id) {
    Object.assign(this, { context }, context._json('describe_model', ['number'], [id]));
    this._id = id;
  }
  // With the inputs by their names, or with a tensor where there is one input only; gives the outputs by their names.
  run(inputs) {
    const named = inputs instanceof Tensor ? { [this.inputs[0].name]: inputs } : inputs;
    const ids = Object.fromEntries(Object.entries(named).map(([name, tensor]) => [name, tensor._id]));
    const outputs = this.context._json('run_model', ['number', 'string'], [this._id, JSON.stringify(ids)]);
    return Object.fromEntries(Object.entries(outputs).map(([name, output]) => [name, new Tensor(this.context, output)]));
  }
  dispose() { this.context._module._tessera_js_dispose_model(this._id); }
}

export class Context {
  #gl = null; #files = 0; #device = null; #ownsDevice = false; #isClosed = false;

  constructor(module, id, backend, { gl = null, device = null, ownsDevice = false } = {}) {
    this._module = module;
    this._id = id;
    this.backend = backend;
    this.#gl = gl;
    this.#device = device;
    this.#ownsDevice = ownsDevice;
    Object.assign(this, this._json('describe_context', ['number'], [id]));
  }

  get webgl() { return this.#gl; }
  get gpuDevice() { return this.#device; }

  _checkOpen() {
    if (this.#isClosed) throw new TesseraError({ code: 'invalid_argument', message: 'this context is closed.' });
  }
  _throw() { throw new TesseraError(JSON.parse(this._module.ccall('tessera_js_error', 'string'))); }
  _number(name, types, values) {
    this._checkOpen();
    return this._module.ccall(`tessera_js_${name}`, 'number', types, values) || this._throw();
  }
  _json(name, types, values) {
    this._checkOpen();
    const text = this._module.ccall(`tessera_js_${name}`, 'string', types, values);
    return text ? JSON.parse(text) : this._throw();
  }
  _dispose(id) {
    if (this.#isClosed) return;
    this._module._tessera_js_dispose(id);
  }

  // ---- tensors
  tensor(shape, elements, dtype) {
    const values = Array.isArray(elements) ? new arrays[dtype ?? 'f32'](elements) : elements;
    const given = dtypeOf(values);
    if (!given) throw new TypeError('tensor: the elements are an array of numbers, or a Float32Array, Int32Array, Int8Array or Uint8Array.');
    const wanted = dtype ?? given;
    const stored = wanted == 'f16' ? 'f32' : arrays[wanted] == arrays[given] ? wanted : given;
    const at = this._module._malloc(Math.max(values.byteLength, 1));
    try {
      this._module.HEAPU8.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
      const made = new Tensor(this, this._json('tensor', ['number', 'string', 'string', 'number', 'number'],
        [this._id, JSON.stringify(shape), stored, at, values.byteLength]));
      return stored == wanted ? made : this.ops.cast(made, { dtype: wanted });
    } finally {
      this._module._free(at);
    }
  }
  full(shape, value, dtype = 'f32') {
    return new Tensor(this, this._json('full', ['number', 'string', 'number', 'string'], [this._id, JSON.stringify(shape), value, dtype]));
  }
  zeros(shape, dtype = 'f32') { return this.full(shape, 0, dtype); }

  // Each operation by its name: operands, then options. Filled in by createContext().
  ops = {};

  // The elements, when the device is done. Nothing waits meanwhile.
  async _read(tensor) {
    const number = ++lastRead;
    try {
      const bytes = await new Promise((resolve, reject) => {
        reads.set(number, { resolve, reject: (error) => reject(new TesseraError(JSON.parse(error))) });
        this._number('read', ['number', 'number'], [tensor._id, number]);
      });
      return new arrays[tensor.dtype](bytes.buffer);
    } finally {
      reads.delete(number);
    }
  }

  // ---- the page's textures and buffers. They get a number for the length of a call, and longer while a tensor reads them.
  #addObject(object) {
    if (this.backend == 'webgpu') return this._module.tesseraGpu.add(object);
    const table = this._module.GL;
    if (!(object instanceof WebGLTexture)) throw new TypeError('a WebGLTexture is needed.');
    if (object.name) return object.name;
    object.name = table.getNewId(table.textures);
    table.textures[object.name] = object;
    return object.name;
  }
  #removeObject(object, id) {
    if (this.backend == 'webgpu') return this._module.tesseraGpu.remove(id);
    this._module.GL.textures[id] = null;
    delete object.name;
  }
  _withObject(object, work) {
    const isKnown = this.backend != 'webgpu' && object.name;
    const id = this.#addObject(object);
    try {
      return work(id);
    } finally {
      if (!isKnown) this.#removeObject(object, id);
    }
  }
  #keptBy(tensor, object) { // WebGPU counts references, WebGL2 does not
    if (this.backend != 'webgpu') tensor._texture = object;
    return tensor;
  }

  fromTexture(texture, options = {}) {
    const given = JSON.stringify(options), id = this.#addObject(texture);
    try {
      return this.#keptBy(new Tensor(this, this._json('from_texture', ['number', 'number', 'string'], [this._id, id, given])), texture);
    } finally {
      if (this.backend == 'webgpu') this.#removeObject(texture, id);
    }
  }
  // Tells that a WebGLTexture that was given to fromTexture is about to be deleted.
  releaseTexture(texture) { if (this.backend != 'webgpu' && texture.name) this.#removeObject(texture, texture.name); }

  fromBuffer(buffer, shape, dtype = 'f32', { offset = 0 } = {}) {
    return this._withObject(buffer, (id) => new Tensor(this, this._json('from_buffer', ['number', 'number', 'string', 'string', 'number'],
      [this._id, id, JSON.stringify(shape), dtype, offset])));
  }

  // A picture, canvas, video or ImageBitmap as it is now: [height,width,channels] of 0 to 1.
  fromImage(image, { channels = 'RGB', dtype = 'f32' } = {}) {
    const [width, height] = sizeOfImage(image);
    const texture = this.backend == 'webgpu' ? this.#uploadToWebGpu(image, width, height) : this.#uploadToWebGl(image, width, height);
    const tensor = this.fromTexture(texture, { width, height, channels, dtype, ...(this.#gl ? { internalFormat: this.#gl.RGBA8 } : {}) });
    try {
      return tensor.compute(); // the elements are tessera's now
    } finally {
      this.releaseTexture(texture);
      this.#gl ? this.#gl.deleteTexture(texture) : texture.destroy();
    }
  }
  #uploadToWebGl(image, width, height) {
    const gl = this.#gl;
    if (!gl) throw new TesseraError({ code: 'unsupported', message: 'fromImage: a context on the CPU has no textures; read the pixels with getImageData().' });
    return withPlainUploads(gl, () => {
      const texture = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, width, height);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, image);
      return texture;
    });
  }
  #uploadToWebGpu(image, width, height) {
    const usage = GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST | GPUTextureUsage.RENDER_ATTACHMENT;
    const texture = this.#device.createTexture({ size: [width, height], format: 'rgba8unorm', usage });
    this.#device.queue.copyExternalImageToTexture({ source: image }, { texture }, [width, height]);
    return texture;
  }

  _toTexture(tensor, target, options) {
    this._withObject(target, (id) => this._number('to_texture', ['number', 'number', 'string'], [tensor._id, id, JSON.stringify(options)]));
  }
  // To the canvas of the page's WebGL2 context, its upper row first.
  _toCanvas(tensor, { width, height } = {}) {
    const [defaultHeight, defaultWidth] = tensor.shape.length == 4 ? tensor.shape.slice(1) : tensor.shape;
    const options = { width: width ?? defaultWidth, height: height ?? defaultHeight, flipY: true };
    this._number('to_texture', ['number', 'number', 'string'], [tensor._id, 0, JSON.stringify(options)]);
  }
  _gpuData(tensor) {
    const { lent, buffer, texture, ...rest } = this._json('gpu_data', ['number'], [tensor._id]);
    const release = () => this._dispose(lent);
    return buffer ? { buffer: this._module.tesseraGpu.objects[buffer], ...rest, release }
      : { texture: this._module.GL.textures[texture], ...rest, release };
  }

  // ---- models: an ONNX file, or a TF.js model.json with the weights beside it
  async loadModel(address) {
    const url = new URL(address, globalThis.location?.href);
    const get = async (from) => {
      const response = await fetch(from);
      if (!response.ok) throw new TesseraError({ code: 'not_found', message: `loadModel: ${from} gives ${response.status} ${response.statusText}.` });
      return new Uint8Array(await response.arrayBuffer());
    };
    const folder = `/tessera_model_${this._id}_${++this.#files}`, { FS } = this._module;
    const file = await get(url), written = [];
    const write = (name, bytes) => {
      const path = `${folder}/${name}`;
      FS.mkdirTree(path.slice(0, path.lastIndexOf('/')));
      FS.writeFile(path, bytes);
      written.push(path);
      return path;
    };
    try {
      const path = write(url.pathname.split('/').at(-1) || 'model', file);
      if (file[0] == 0x7b) { // a "{": TF.js
        const names = JSON.parse(new TextDecoder().decode(file)).weightsManifest?.flatMap(({ paths }) => paths) ?? [];
        await Promise.all(names.map(async (name) => write(name, await get(new URL(name, url)))));
      }
      return new Model(this, this._number('load_model', ['number', 'string'], [this._id, path]));
    } finally {
      for (const path of written) FS.unlink(path);
    }
  }

  memory() { return this._json('memory', ['number'], [this._id]); }

  // Frees all that is on the device. Tensors that remain can only be disposed.
  close() {
    if (this.#isClosed) return;
    this._module._tessera_js_close(this._id);
    this.#isClosed = true;
    if (this.#ownsDevice) this.#device.destroy();
  }
}

// ---- operations, as functions of a context and as methods of tensors
let opNames = null;

function addOps(context) {
  opNames ??= context._json('ops', [], []);
  for (const name of opNames) {
    context.ops[name] = (...given) => {
      const isOperand = (value) => value instanceof Tensor || typeof value == 'number' || Array.isArray(value);
      const operands = given.filter(isOperand).flat(), options = given.find((value) => !isOperand(value)) ?? {};
      const ids = operands.map((operand) => (typeof operand == 'number' ? { number: operand } : operand._id));
      const results = context._json('op', ['string', 'string', 'string'], [name, JSON.stringify(ids), JSON.stringify(options)])
        .map((result) => new Tensor(context, result));
      return ['split', 'topK', 'sobel'].includes(name) ? results : results[0];
    };
    Tensor.prototype[name] ??= function op(...given) { return this.context.ops[name](this, ...given); };
  }
  return context;
}

// ---- contexts
const features = ['core-features-and-limits', 'timestamp-query', 'shader-f16', 'float32-filterable', 'subgroups'];

async function openDevice() {
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) return null;
  const requiredLimits = {};
  for (const name in adapter.limits)
    if (typeof adapter.limits[name] == 'number' && !/^min(Sub|sub)group|^max(Sub|sub)group/.test(name)) requiredLimits[name] = adapter.limits[name];
  const device = await adapter.requestDevice({ label: 'tessera', requiredFeatures: features.filter((name) => adapter.features.has(name)), requiredLimits });
  return device;
}

function onDevice(module, device, ownsDevice = false) {
  module._tessera_js_make_table();
  const number = module.tesseraGpu.add(device);
  const id = module.ccall('tessera_js_adopt_webgpu', 'number', ['number'], [number]);
  module.tesseraGpu.remove(number); // the context has a reference of its own
  return id ? new Context(module, id, 'webgpu', { device, ownsDevice }) : null;
}

function onCanvas(module, gl, checkState) {
  if (gl.tesseraHandle) module.GL.makeContextCurrent(gl.tesseraHandle);
  else {
    gl.tesseraHandle = module.GL.registerContext(gl, { majorVersion: 2, minorVersion: 0, enableExtensionsByDefault: false });
    module.GL.makeContextCurrent(gl.tesseraHandle);
  }
  const id = module.ccall('tessera_js_adopt_webgl', 'number', ['number'], [checkState ? 1 : 0]);
  return id ? new Context(module, id, 'webgl', { gl }) : null;
}

function ofItsOwn(module, backend) {
  const id = module.ccall('tessera_js_create', 'number', ['string'], [backend]);
  if (!id) return null;
  if (backend == 'cpu') return new Context(module, id, backend);
  const handle = module.ccall('tessera_js_own_webgl', 'number', ['number'], [id]);
  return new Context(module, id, backend, { gl: module.GL.getContext(handle).GLctx });
}

// A context of tessera's own, on the first backend of `backends` that the browser has; or in the page's WebGL2 context
// `webgl`, or on the page's GPUDevice `device`.
export async function createContext({ backends = ['webgpu', 'webgl', 'cpu'], webgl = null, device = null, checkState = false } = {}) {
  const module = await loadModule();
  const failed = () => new TesseraError(JSON.parse(module.ccall('tessera_js_error', 'string')));
  if (device || webgl) {
    const context = device ? onDevice(module, device) : onCanvas(module, webgl, checkState);
    if (!context) throw failed();
    return addOps(context);
  }
  let error = new TesseraError({ code: 'unsupported', message: `createContext: this browser has none of ${backends.join(', ')}.` });
  for (const backend of backends) {
    if (backend == 'webgpu') {
      const own = await openDevice().catch(() => null);
      if (!own) continue;
      const context = onDevice(module, own, true);
      if (context) return addOps(context);
    } else {
      const context = ofItsOwn(module, backend);
      if (context) return addOps(context);
    }
    error = failed();
  }
  throw error;
}
