/** tessera: tensors on WebGPU, WebGL2 or the CPU of a web page. */

export type Backend = 'webgpu' | 'webgl' | 'cpu';
export type DType = 'f32' | 'f16' | 'i32' | 'i8' | 'u8' | 'boolean';
export type Elements = Float32Array | Int32Array | Int8Array | Uint8Array | Uint8ClampedArray;
export type Image = HTMLImageElement | HTMLCanvasElement | HTMLVideoElement | OffscreenCanvas | ImageBitmap | VideoFrame;
export type ErrorCode =
  | 'invalid_argument' | 'shape_mismatch' | 'dtype_mismatch' | 'unsupported' | 'wrong_backend' | 'wrong_thread' | 'not_found'
  | 'out_of_memory' | 'device_lost' | 'compile_failed' | 'io' | 'cancelled' | 'busy';

/** Every failure: a code to switch on, and a sentence with the values that did not fit. */
export class TesseraError extends Error {
  readonly code: ErrorCode;
}

export interface ContextOptions {
  /** Tried in this order: WebGPU, WebGL2 and the CPU where nothing is said. */
  backends?: Backend[];
  /** The page's own WebGL2 context, whose state stays as it is. */
  webgl?: WebGL2RenderingContext;
  /** The page's own device. */
  device?: GPUDevice;
  /** Compares all state of the page's WebGL2 context before and after each call, and warns on the console. Slow. */
  checkState?: boolean;
}

export function createContext(options?: ContextOptions): Promise<Context>;

/** A rectangle, a level of mipmaps or a layer of a texture. */
export interface TexturePart {
  x?: number;
  y?: number;
  partWidth?: number;
  partHeight?: number;
  level?: number;
  layer?: number;
}
export interface FromTexture extends TexturePart {
  /** Which channels, in which order: "R", "BGR", … "RGBA" where nothing is said. */
  channels?: string;
  /** "f32" where nothing is said; "f16"; or "u8", the bytes as they are. */
  dtype?: DType;
  /** WebGL2 needs these three: of level 0, and such as gl.RGBA8. */
  width?: number;
  height?: number;
  internalFormat?: number;
}
export interface ToTexture extends TexturePart {
  /** The first row of the tensor becomes the last one of the texture. */
  flipY?: boolean;
  /** WebGL2 needs these three. */
  width?: number;
  height?: number;
  internalFormat?: number;
}

/** The buffer or texture that a tensor is in: valid, and for reading, until release(). */
export interface GpuBufferData {
  buffer: GPUBuffer;
  offset: number;
  size: number;
  release(): void;
}
export interface GpuTextureData {
  /** Texel t, row by row, has the elements 4t to 4t + 3. */
  texture: WebGLTexture;
  width: number;
  height: number;
  internalFormat: number;
  release(): void;
}

export class Context {
  readonly backend: Backend;
  readonly device: string;
  readonly driver: string;
  readonly isSoftware: boolean;
  readonly webgl: WebGL2RenderingContext | null;
  readonly gpuDevice: GPUDevice | null;
  /** Each operation as a function of its operands: `ops.sub(1, x)`, `ops.concat([a, b], { axis: 1 })`. */
  readonly ops: Ops;

  /** The type is that of the array, or f32 for plain numbers. */
  tensor(shape: number[], elements: Elements | number[], dtype?: DType): Tensor;
  full(shape: number[], value: number, dtype?: DType): Tensor;
  zeros(shape: number[], dtype?: DType): Tensor;

  /** A picture as it is now, [height, width, channels] of 0 to 1, the upper row first. */
  fromImage(image: Image, options?: { channels?: string; dtype?: DType }): Tensor;
  /** A texture of the page's. Kernels sample it when something is computed from the tensor; nothing is copied. */
  fromTexture(texture: WebGLTexture | GPUTexture, options?: FromTexture): Tensor;
  /** Before the page deletes a WebGLTexture that was given to fromTexture. */
  releaseTexture(texture: WebGLTexture): void;
  /** The elements of a buffer of the page's with the usage STORAGE. Nothing is copied. */
  fromBuffer(buffer: GPUBuffer, shape: number[], dtype?: DType, options?: { offset?: number }): Tensor;

  /** An ONNX file, or a TF.js model.json with its weights beside it. */
  loadModel(address: string | URL): Promise<Model>;

  memory(): { tensors: number; bytes: number; bytesPooled: number; kernels: number; dispatches: number; submits: number };
  /** Frees all that is on the device. Tensors that remain can only be disposed. */
  close(): void;
}

export interface ModelValue {
  name: string;
  dtype: DType;
  /** null: the file does not say; null among the sizes: a free one. */
  shape: (number | null)[] | null;
}
export class Model {
  readonly context: Context;
  readonly inputs: ModelValue[];
  readonly outputs: ModelValue[];
  /** Lazy, like every operation. A tensor alone is the only input. */
  run(inputs: Tensor | Record<string, Tensor>): Record<string, Tensor>;
  dispose(): void;
}

export type Padding = 'valid' | 'same';
export interface Reduce { axes?: number[]; keepDims?: boolean }
export interface Convolution { strides?: [number, number]; dilations?: [number, number]; padding?: Padding; pads?: [number, number, number, number]; groups?: number }
export interface Pooling { size: number[]; strides?: number[]; dilations?: number[]; padding?: Padding; pads?: number[]; countsPadding?: boolean }
export type Border = 'zero' | 'edge' | 'reflect';

/** The operations, as methods of their first operand. */
export interface TensorOps {
  add(other: Tensor | number): Tensor;
  sub(other: Tensor | number): Tensor;
  mul(other: Tensor | number): Tensor;
  div(other: Tensor | number): Tensor;
  pow(other: Tensor | number): Tensor;
  minimum(other: Tensor | number): Tensor;
  maximum(other: Tensor | number): Tensor;
  equal(other: Tensor | number): Tensor;
  notEqual(other: Tensor | number): Tensor;
  less(other: Tensor | number): Tensor;
  lessEqual(other: Tensor | number): Tensor;
  greater(other: Tensor | number): Tensor;
  greaterEqual(other: Tensor | number): Tensor;
  logicalAnd(other: Tensor): Tensor;
  logicalOr(other: Tensor): Tensor;
  logicalNot(): Tensor;
  neg(): Tensor;
  abs(): Tensor;
  sign(): Tensor;
  square(): Tensor;
  sqrt(): Tensor;
  rsqrt(): Tensor;
  exp(): Tensor;
  log(): Tensor;
  floor(): Tensor;
  ceil(): Tensor;
  round(): Tensor;
  sin(): Tensor;
  cos(): Tensor;
  tanh(): Tensor;
  erf(): Tensor;
  sigmoid(): Tensor;
  relu(): Tensor;
  relu6(): Tensor;
  gelu(): Tensor;
  silu(): Tensor;
  softplus(): Tensor;
  leakyRelu(options?: { slope?: number }): Tensor;
  clip(options: { low: number; high: number }): Tensor;
  where(yes: Tensor, no: Tensor): Tensor;
  cast(options: { dtype: DType }): Tensor;

  sum(options?: Reduce): Tensor;
  mean(options?: Reduce): Tensor;
  prod(options?: Reduce): Tensor;
  max(options?: Reduce): Tensor;
  min(options?: Reduce): Tensor;
  argmax(options?: { axis?: number; keepDims?: boolean }): Tensor;
  argmin(options?: { axis?: number; keepDims?: boolean }): Tensor;
  sort(options?: { axis?: number; descending?: boolean }): Tensor;
  argsort(options?: { axis?: number; descending?: boolean }): Tensor;
  cumsum(options?: { axis?: number }): Tensor;
  /** Values and indices. */
  topK(options: { k: number; axis?: number }): [Tensor, Tensor];

  matmul(other: Tensor, options?: { transposeA?: boolean; transposeB?: boolean }): Tensor;
  /** [batch, height, width, channels] with [height, width, in, out]. */
  conv2d(filter: Tensor, options?: Convolution): Tensor;
  conv2dTranspose(filter: Tensor, options?: Convolution): Tensor;
  maxPool(options: Pooling): Tensor;
  averagePool(options: Pooling): Tensor;
  softmax(options?: { axis?: number }): Tensor;
  logSoftmax(options?: { axis?: number }): Tensor;
  layerNorm(gamma?: Tensor, beta?: Tensor, options?: { beginAxis?: number; epsilon?: number }): Tensor;
  rmsNorm(gamma?: Tensor, beta?: Tensor, options?: { beginAxis?: number; epsilon?: number }): Tensor;

  reshape(options: { shape: number[] }): Tensor;
  flatten(): Tensor;
  broadcastTo(options: { shape: number[] }): Tensor;
  expandDims(options?: { axis?: number }): Tensor;
  squeeze(options?: { axes?: number[] }): Tensor;
  transpose(options?: { permutation?: number[] }): Tensor;
  reverse(options?: { axes?: number[] }): Tensor;
  /** A size of -1 reaches to the end. */
  slice(options: { begin: number[]; size: number[] }): Tensor;
  split(options: { parts: number; axis?: number }): Tensor[];
  concat(others: Tensor[], options?: { axis?: number }): Tensor;
  stack(others: Tensor[], options?: { axis?: number }): Tensor;
  /** Before and after each axis. */
  pad(options: { padding: [number, number][]; mode?: 'constant' | 'edge' | 'reflect'; value?: number }): Tensor;
  gather(indices: Tensor, options?: { axis?: number }): Tensor;
  oneHot(options: { depth: number }): Tensor;

  resize(options: { height: number; width: number; mode?: 'nearest' | 'bilinear' | 'cubic' }): Tensor;
  gaussianBlur(options: { sigma: number; border?: Border }): Tensor;
  /** Along x and y. */
  sobel(options?: { border?: Border }): [Tensor, Tensor];
  colourMatrix(options: { matrix: number[] }): Tensor;
  toFloat(): Tensor;
  toU8(): Tensor;
}

type FromFirst = { [Name in keyof TensorOps]: (first: Tensor, ...rest: Parameters<TensorOps[Name]>) => ReturnType<TensorOps[Name]> };
type Arithmetic = 'add' | 'sub' | 'mul' | 'div' | 'pow' | 'minimum' | 'maximum' | 'equal' | 'notEqual' | 'less' | 'lessEqual' | 'greater' | 'greaterEqual';
export type Ops = Omit<FromFirst, Arithmetic | 'concat' | 'stack'>
  & { [Name in Arithmetic]: (a: Tensor | number, b: Tensor | number) => Tensor }
  & { [Name in 'concat' | 'stack']: (tensors: Tensor[], options?: { axis?: number }) => Tensor };

/** A handle on an array that is computed when it is needed. */
export interface Tensor extends TensorOps {}
export class Tensor {
  readonly context: Context;
  readonly shape: number[];
  readonly dtype: DType;
  readonly size: number;

  /** Runs what leads to this tensor, in one submission, and does not wait for it. */
  compute(): this;
  /** The elements in row-major order, f16 as a Float32Array, booleans as 0 and 1. */
  read(): Promise<Float32Array | Int32Array | Int8Array | Uint8Array>;
  /** Writes an image, [height, width, 1 to 4] of 0 to 1 or of u8, in the submission that computes it. */
  toTexture(target: WebGLTexture | GPUTexture, options?: ToTexture): void;
  /** The same to the canvas of the page's WebGL2 context. */
  toCanvas(options?: { width?: number; height?: number }): void;
  toBuffer(buffer: GPUBuffer, options?: { offset?: number }): void;
  /** Computes the tensor, and lends what it is in. */
  gpuData(): GpuBufferData | GpuTextureData;
  /** Frees its memory now rather than with the garbage collector's next round. */
  dispose(): void;
}
