// tessera in the WebGL2 context of three.js: frames with tessera between them are those of three.js alone, each bit of
// state stays as it was, and what tessera makes of a frame is right.
import { createContext } from 'tessera';
import * as THREE from 'three';
import { check, equal } from './check.js';

const size = 32, frames = 200;
const states = `ACTIVE_TEXTURE ARRAY_BUFFER_BINDING BLEND BLEND_COLOR BLEND_DST_ALPHA BLEND_DST_RGB BLEND_EQUATION_ALPHA BLEND_EQUATION_RGB
  BLEND_SRC_ALPHA BLEND_SRC_RGB COLOR_CLEAR_VALUE COLOR_WRITEMASK COPY_READ_BUFFER_BINDING COPY_WRITE_BUFFER_BINDING CULL_FACE CULL_FACE_MODE
  CURRENT_PROGRAM DEPTH_CLEAR_VALUE DEPTH_FUNC DEPTH_RANGE DEPTH_TEST DEPTH_WRITEMASK DITHER DRAW_FRAMEBUFFER_BINDING ELEMENT_ARRAY_BUFFER_BINDING
  FRONT_FACE LINE_WIDTH PACK_ALIGNMENT PACK_ROW_LENGTH PACK_SKIP_PIXELS PACK_SKIP_ROWS PIXEL_PACK_BUFFER_BINDING PIXEL_UNPACK_BUFFER_BINDING
  POLYGON_OFFSET_FILL RASTERIZER_DISCARD READ_FRAMEBUFFER_BINDING RENDERBUFFER_BINDING SAMPLE_ALPHA_TO_COVERAGE SAMPLE_COVERAGE SCISSOR_BOX
  SCISSOR_TEST STENCIL_TEST STENCIL_WRITEMASK TRANSFORM_FEEDBACK_BINDING UNIFORM_BUFFER_BINDING UNPACK_ALIGNMENT UNPACK_COLORSPACE_CONVERSION_WEBGL
  UNPACK_FLIP_Y_WEBGL UNPACK_IMAGE_HEIGHT UNPACK_PREMULTIPLY_ALPHA_WEBGL UNPACK_ROW_LENGTH UNPACK_SKIP_IMAGES UNPACK_SKIP_PIXELS
  UNPACK_SKIP_ROWS VERTEX_ARRAY_BINDING VIEWPORT`.split(/\s+/);
const bindings = ['TEXTURE_BINDING_2D', 'TEXTURE_BINDING_2D_ARRAY', 'TEXTURE_BINDING_3D', 'TEXTURE_BINDING_CUBE_MAP', 'SAMPLER_BINDING'];

// Objects as they are; what has several values as a text.
function stateOf(gl) {
  const plain = (value) => (ArrayBuffer.isView(value) || Array.isArray(value) ? [...value].join() : value);
  const state = new Map(states.map((name) => [name, plain(gl.getParameter(gl[name]))]));
  const active = gl.getParameter(gl.ACTIVE_TEXTURE);
  for (let unit = 0; unit < 16; ++unit) {
    gl.activeTexture(gl.TEXTURE0 + unit);
    for (const name of bindings) state.set(`${name} of unit ${unit}`, gl.getParameter(gl[name]));
  }
  gl.activeTexture(active);
  return state;
}
function sameState(before, after) {
  for (const [name, value] of before) if (after.get(name) !== value) throw new Error(`${name} was ${value} and is ${after.get(name)}`);
}

// A cube with a picture that changes with each frame, drawn to a target and from it to the canvas.
function makeScene(canvas) {
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: false, preserveDrawingBuffer: true });
  renderer.setSize(size, size, false);
  const paper = new OffscreenCanvas(16, 16), pen = paper.getContext('2d');
  const map = new THREE.CanvasTexture(paper); // flipped as it is uploaded
  const cube = new THREE.Mesh(new THREE.BoxGeometry(), new THREE.MeshStandardMaterial({ map, transparent: true, opacity: 0.9 }));
  const scene = new THREE.Scene();
  scene.background = new THREE.Color(0x223344);
  scene.add(cube, new THREE.HemisphereLight(0xffffff, 0x444444, 3));
  const camera = new THREE.PerspectiveCamera(60, 1, 0.1, 10);
  camera.position.z = 1.6;
  const target = new THREE.WebGLRenderTarget(size, size);
  return {
    renderer, target,
    draw(frame) {
      pen.fillStyle = `hsl(${frame * 7} 80% 60%)`;
      pen.fillRect(0, 0, 16, 16);
      pen.fillStyle = '#fff';
      pen.fillRect(frame % 12, 2, 4, 4);
      map.needsUpdate = true;
      cube.rotation.set(frame * 0.03, frame * 0.05, 0);
      for (const to of [target, null]) {
        renderer.setRenderTarget(to);
        renderer.render(scene, camera);
      }
    },
  };
}

function pixelsOf(gl) {
  const pixels = new Uint8Array(4 * size * size);
  gl.readPixels(0, 0, size, size, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  return pixels;
}

check('in the context of three.js for 200 frames', async () => {
  const alone = makeScene(new OffscreenCanvas(size, size)), shared = makeScene(new OffscreenCanvas(size, size));
  const [glAlone, gl] = [alone, shared].map(({ renderer }) => renderer.getContext());
  const gpu = await createContext({ webgl: gl });
  const output = new THREE.WebGLRenderTarget(size, size);
  shared.renderer.initRenderTarget(output);
  const textureOf = (texture) => shared.renderer.properties.get(texture).__webglTexture;
  const options = { width: size, height: size, internalFormat: gl.RGBA8, channels: 'RGB' };

  for (let frame = 0; frame < frames; ++frame) {
    alone.draw(frame);
    shared.draw(frame);
    const before = stateOf(gl);
    const rendered = gpu.fromTexture(textureOf(shared.target.texture), options);
    const gain = gpu.tensor([3], new Float32Array([1, 0.5, (frame % 4) / 4])); // an upload in each frame
    const result = gpu.ops.sub(1, rendered.mul(gain));
    result.toTexture(textureOf(output.texture), { width: size, height: size, internalFormat: gl.RGBA8 });
    for (const tensor of [rendered, gain, result]) tensor.dispose();
    sameState(before, stateOf(gl));
    if (frame % 20 == 19) equal(pixelsOf(gl), pixelsOf(glAlone), `frame ${frame}`);
  }

  const [drawn, made] = [shared.target, output].map((target) => {
    const pixels = new Uint8Array(4 * size * size);
    shared.renderer.readRenderTargetPixels(target, 0, 0, size, size, pixels);
    return pixels;
  });
  const gains = [1, 0.5, ((frames - 1) % 4) / 4];
  drawn.forEach((value, i) => {
    const wanted = i % 4 == 3 ? 255 : 255 - value * gains[i % 4];
    if (Math.abs(made[i] - wanted) > 1) throw new Error(`byte ${i}: ${made[i]} is not ${wanted}`);
  });
  equal(new Set(drawn).size > 20, true, 'a picture with some colours');
  gpu.close();
  equal(gl.getError(), 0);
});
