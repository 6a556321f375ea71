// Pictures, textures and buffers of the page's, in and out.
import { createContext } from 'tessera';
import { check, checkOnEach, equal, fails, near } from './check.js';

// 4 x 2 pixels, each of its own colour.
const colour = (x, y, channel) => (channel == 0 ? 60 * x : channel == 1 ? 100 * y : 10 + 5 * x);
const pixels = Uint8ClampedArray.from({ length: 32 }, (_, i) => (i % 4 == 3 ? 255 : colour((i >> 2) % 4, i >> 4, i % 4)));
function picture() {
  const canvas = new OffscreenCanvas(4, 2);
  canvas.getContext('2d').putImageData(new ImageData(pixels, 4, 2), 0, 0);
  return canvas;
}
const wanted = [...pixels].filter((_, i) => i % 4 != 3).map((value) => value / 255);

checkOnEach('pictures, their upper row first', async (gpu) => {
  const image = gpu.fromImage(picture());
  equal(image.shape, [2, 4, 3]);
  near(await image.read(), wanted);
  near(await gpu.fromImage(await createImageBitmap(picture()), { channels: 'G' }).read(), wanted.filter((_, i) => i % 3 == 1));
}, ['webgpu', 'webgl']);

checkOnEach('the CPU has no textures', (gpu) => fails('unsupported', () => gpu.fromImage(picture())), ['cpu']);

async function readTexture(device, texture, width, height) {
  const buffer = device.createBuffer({ size: 256 * height, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
  const encoder = device.createCommandEncoder();
  encoder.copyTextureToBuffer({ texture }, { buffer, bytesPerRow: 256 }, [width, height]);
  device.queue.submit([encoder.finish()]);
  await buffer.mapAsync(GPUMapMode.READ);
  const rows = new Uint8Array(buffer.getMappedRange());
  return [...Array(height).keys()].flatMap((y) => [...rows.subarray(256 * y, 256 * y + 4 * width)]);
}
async function openDevice() {
  const adapter = await navigator.gpu.requestAdapter();
  return adapter.requestDevice({ requiredFeatures: ['core-features-and-limits'].filter((name) => adapter.features.has(name)) });
}

check('a GPUDevice of the page: textures and buffers', async () => {
  const device = await openDevice(), faults = [];
  device.addEventListener('uncapturederror', ({ error }) => faults.push(error.message));
  const gpu = await createContext({ device });
  equal([gpu.backend, gpu.gpuDevice == device], ['webgpu', true]);

  const usage = GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST | GPUTextureUsage.COPY_SRC | GPUTextureUsage.RENDER_ATTACHMENT;
  const [source, target] = [0, 1].map(() => device.createTexture({ size: [4, 2], format: 'rgba8unorm', usage }));
  device.queue.writeTexture({ texture: source }, pixels, { bytesPerRow: 16 }, [4, 2]);
  const inverse = gpu.ops.sub(1, gpu.fromTexture(source, { channels: 'RGB' }));
  inverse.toTexture(target);
  equal(await readTexture(device, target, 4, 2), [...pixels].map((value, i) => (i % 4 == 3 ? 255 : 255 - value)));

  const storage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
  const buffer = device.createBuffer({ size: 32, usage: storage }), result = device.createBuffer({ size: 32, usage: storage });
  device.queue.writeBuffer(buffer, 0, new Float32Array([1, 2, 3, 4, 5, 6, 7, 8]));
  const doubled = gpu.fromBuffer(buffer, [2, 4]).mul(2);
  doubled.toBuffer(result);
  equal(await gpu.fromBuffer(result, [8]).read(), new Float32Array([2, 4, 6, 8, 10, 12, 14, 16]));
  const lent = gpu.full([4], 7).gpuData();
  equal([lent.buffer instanceof GPUBuffer, lent.size], [true, 16]);
  equal(await gpu.fromBuffer(lent.buffer, [4]).read(), new Float32Array([7, 7, 7, 7]));
  lent.release();
  gpu.close();
  equal(faults, []);
  device.queue.writeTexture({ texture: source }, pixels, { bytesPerRow: 16 }, [4, 2]); // all of it is still the page's
  equal(await readTexture(device, source, 4, 2), [...pixels]);
  device.destroy();
});

check('a WebGL2 context of the page: textures and the canvas', async () => {
  const gl = new OffscreenCanvas(4, 2).getContext('webgl2', { alpha: false });
  const gpu = await createContext({ webgl: gl, checkState: true });
  equal([gpu.backend, gpu.webgl == gl], ['webgl', true]);
  const texture = () => {
    const made = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, made);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, 4, 2);
    return made;
  };
  const [source, target] = [texture(), texture()];
  gl.bindTexture(gl.TEXTURE_2D, source);
  gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 4, 2, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(pixels));
  const size = { width: 4, height: 2, internalFormat: gl.RGBA8 };
  const inverse = gpu.ops.sub(1, gpu.fromTexture(source, { ...size, channels: 'RGB' }));
  inverse.toTexture(target, size);
  const framebuffer = gl.createFramebuffer(), seen = new Uint8Array(32);
  gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target, 0);
  gl.readPixels(0, 0, 4, 2, gl.RGBA, gl.UNSIGNED_BYTE, seen);
  equal(seen, [...pixels].map((value, i) => (i % 4 == 3 ? 255 : 255 - value)));

  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  gpu.fromImage(picture()).toCanvas();
  gl.readPixels(0, 0, 4, 2, gl.RGBA, gl.UNSIGNED_BYTE, seen); // from the lower row on
  equal(seen, [...pixels.slice(16), ...pixels.slice(0, 16)]);

  const { texture: lent, width, height, release } = gpu.full([8], 3).gpuData();
  equal([lent instanceof WebGLTexture, width * height], [true, 2]);
  release();
  gpu.releaseTexture(source);
  gpu.close();
  equal(gl.getError(), 0);
});

check('uploads are plain, whatever the page has set of them', async () => {
  const gl = new OffscreenCanvas(4, 2).getContext('webgl2');
  const gpu = await createContext({ webgl: gl });
  gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true);
  gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true);
  gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 8);
  gl.pixelStorei(gl.UNPACK_SKIP_ROWS, 1);
  const values = Float32Array.from({ length: 64 }, (_, i) => i * 0.01);
  near(await gpu.tensor([64], values).add(1).read(), [...values].map((value) => value + 1));
  near(await gpu.fromImage(picture()).read(), wanted);
  equal([gl.UNPACK_FLIP_Y_WEBGL, gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.UNPACK_ALIGNMENT, gl.UNPACK_SKIP_ROWS]
    .map((name) => gl.getParameter(name)), [true, true, gl.NONE, 8, 1]);
  gpu.close();
  equal(gl.getError(), 0);
});
