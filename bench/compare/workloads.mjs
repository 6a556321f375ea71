// What the peers of bench/compare run, and the numbers that they run it with. A workload is an operation with its
// arguments, by which every peer knows what to do:
//
//   ops COUNT ROWS COLUMNS                          x * 1.01, + b, * 1.01, + b ...
//   matmul BATCH ROWS TERMS COLUMNS FORM            form: 1 if a is transposed, 2 if b is, 4 if a is every other column
//   softmax ROWS COLUMNS AXIS
//   conv BATCH HEIGHT WIDTH CHANNELS OUT SIDE STRIDE, depthwise BATCH HEIGHT WIDTH CHANNELS SIDE     same padding
//   squaremean TENSORS ELEMENTS                     the mean of x² over all of them
//   upload ELEMENTS, updown ELEMENTS                updown reads them back, too
//   video WIDTH HEIGHT                              5x5 Gaussian, Sobel, colour matrix, clamp; of four channels
//   mlp BATCH                                       784, 512, 256, 10; relu, softmax
//   lngelu ROWS COLUMNS                             layer norm, exact GELU
//   model FILE INPUT SIZES...                       in the folder of the networks; the input as floats
//
// targets: by what factor tessera is to be faster than the faster of the two libraries, than kernels by hand, and
// than TF.js on WebGL.
const workload = (name, spec, library, raw, webgl) => ({ name, spec, targets: { library, raw, webgl } });

export const standard = [
  workload('chain10_1024', 'ops 20 1024 1024', 25, 1, 50),
  workload('chain100_1024', 'ops 200 1024 1024', 80, 1, 50),
  workload('chain10_2048', 'ops 20 2048 2048', 25, 1, 50),
  workload('chain100_2048', 'ops 200 2048 2048', 80, 1, 50),
  workload('small100', 'ops 100 1 1024', 20, 0.8),
  workload('matmul_256', 'matmul 1 256 256 256 0', 4, 1.5, 1.5),
  workload('matmul_512', 'matmul 1 512 512 512 0', 4, 1.5, 1.5),
  workload('matmul_1024', 'matmul 1 1024 1024 1024 0', 4, 1.5, 1.5),
  workload('matmul_b8_256', 'matmul 8 256 256 256 0', 4, 1.5, 1.5),
  workload('softmax_1024', 'softmax 1024 1024 1', 2.5, 1, 3),
  workload('conv3x3', 'conv 1 128 128 16 32 3 1', 6, 1.2, 2),
  workload('conv1x1', 'conv 1 64 64 64 128 1 1', 4, 1.2, 2),
  workload('depthwise3x3', 'depthwise 1 128 128 32 3', 2, 1.2, 2),
  workload('squaremean', 'squaremean 10 262144', 10, 1, 3),
  workload('upload_10mb', 'upload 2621440'),
  workload('updown_10mb', 'updown 2621440', 3.5, 0.9),
  workload('video720', 'video 1280 720'),
  workload('mlp', 'mlp 64', 4, 1, 3),
  workload('lngelu', 'lngelu 512 768', 5, 1, 3),
];

export const odd = [
  workload('matmul 255x257x263', 'matmul 1 255 257 263 0'),
  workload('matmul 127³ (prime)', 'matmul 1 127 127 127 0'),
  workload('matmul 4096x64x32 (tall)', 'matmul 1 4096 64 32 0'),
  workload('matmul 32x4096x33 (long sums)', 'matmul 1 32 4096 33 0'),
  workload('matmul 1x1024x1024 (a row)', 'matmul 1 1 1024 1024 0'),
  workload('matmul 64 of 31x37x41', 'matmul 64 31 37 41 0'),
  workload('matmul 384³, a transposed', 'matmul 1 384 384 384 1'),
  workload('matmul 384³, b transposed', 'matmul 1 384 384 384 2'),
  workload('matmul 300x200x300, b transposed', 'matmul 1 300 200 300 2'),
  workload('matmul 256³, a strided', 'matmul 1 256 256 256 4'),
  workload('conv3x3 113x97x13 to 29', 'conv 1 113 97 13 29 3 1'),
  workload('conv3x3 224x224x3 to 32, stride 2', 'conv 1 224 224 3 32 3 2'),
  workload('conv5x5 61x61x8 to 24', 'conv 1 61 61 8 24 5 1'),
  workload('conv3x3 8 of 28x28x32 to 32', 'conv 8 28 28 32 32 3 1'),
  workload('conv1x1 57x57x67 to 131', 'conv 1 57 57 67 131 1 1'),
  workload('depthwise3x3 101x103x37', 'depthwise 1 101 103 37 3'),
  workload('depthwise5x5 64x64x48', 'depthwise 1 64 64 48 5'),
  workload('softmax 1009x1013', 'softmax 1009 1013 1'),
  workload('softmax 16384x17', 'softmax 16384 17 1'),
  workload('softmax 7x65537', 'softmax 7 65537 1'),
  workload('softmax 1024x768, columns', 'softmax 1024 768 0'),
];

const growing = (numbers, name, spec) => numbers.map((n) => ({ ...workload(name(n), spec(n)), x: n }));
export const growth = [
  {
    title: 'Ten operations on n elements', axis: 'elements',
    workloads: growing([10, 12, 14, 16, 18, 20, 22, 24, 26].map((k) => 2 ** k), (n) => `elements ${n}`, (n) => `ops 10 ${n / 1024} 1024`),
  },
  {
    title: 'n operations on 1,024 elements', axis: 'operations',
    workloads: growing([1, 3, 10, 30, 100, 300, 1000, 3000, 10000], (n) => `operations ${n}`, (n) => `ops ${n} 1 1024`),
  },
];

// The networks of the samples, and the sizes of their inputs. tessera has to be twice as fast as the faster library on
// WebGPU, and as fast as TF.js on OpenGL ES.
const network = (name, file, shape) => ({
  ...workload(name, `model ${file} ${file.replace(/\W/g, '_')}.f32 ${shape.join(' ')}`, 2, undefined, 1), file, shape,
});
export const models = [
  network('selfie segmentation 256x256', 'selfie/selfie.json', [1, 256, 256, 3]),
  network('ESRGAN slim, 64x64 to 128x128', 'esrgan-slim-x2/model.json', [1, 64, 64, 3]),
  network('PP-OCR detector 320x320', 'ppocr/detector.onnx', [1, 3, 320, 320]),
  network('PP-OCR recogniser 48x320', 'ppocr/recogniser.onnx', [1, 3, 48, 320]),
];

// Uniform in [shift, shift + 1) * scale, the same numbers as in peer.cpp.
export function generated(count, seed, shift = -0.5, scale = 1) {
  const values = new Float32Array(count), start = Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < count; i++) {
    let hash = Math.imul(i ^ start, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
    values[i] = Math.fround((hash >>> 8) / 16777216 + shift) * Math.fround(scale);
  }
  return values;
}

export const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);

export function gaussian5x5() {
  const places = [-2, -1, 0, 1, 2], values = places.flatMap((y) => places.map((x) => Math.exp(-(x * x + y * y) / 2)));
  const total = values.reduce((a, b) => a + b);
  return values.map((value) => value / total);
}
export const sobelX = [-1, 0, 1, -2, 0, 2, -1, 0, 1], sobelY = [-1, -2, -1, 0, 0, 0, 1, 2, 1];
export const colours = [0.9, 0.2, 0.1, 0, 0.1, 0.8, 0.2, 0, 0.2, 0.1, 0.9, 0, 0, 0, 0, 1]; // [channel][of the result]
