// The filter of `frames` by hand, on plain WebGL2: what the browser itself takes for such a frame. by_hand.cpp is the same
// without a browser.
import { answering } from './answer.mjs';
import { generated } from './workloads.mjs';

const passes = 8, sigma = 1.5;
const vertexText = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }`;

function weights() {
  const one = [0, 1, 2, 3, 4, 5].map((i) => Math.exp((-0.5 * i * i) / (sigma * sigma)));
  const total = one.reduce((sum, weight) => sum + 2 * weight, -one[0]);
  return one.map((weight) => weight / total);
}

function linked(gl, fragmentText) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertexText], [gl.FRAGMENT_SHADER, fragmentText]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return program;
}

class Image {
  constructor(gl, format, width, height) {
    this.gl = gl;
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
    for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
    this.framebuffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.framebuffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0);
  }
  free() {
    this.gl.deleteFramebuffer(this.framebuffer);
    this.gl.deleteTexture(this.texture);
  }
}

export async function start() {
  const gl = new OffscreenCanvas(1, 1).getContext('webgl2', { alpha: false, depth: false, stencil: false, antialias: false });
  if (!gl || !gl.getExtension('EXT_color_buffer_float')) throw new Error('no WebGL2 that draws floats');
  const program = linked(gl, await (await fetch('blur.frag')).text());
  const along = gl.getUniformLocation(program, 'along');
  gl.useProgram(program);
  gl.uniform1fv(gl.getUniformLocation(program, 'weights'), weights());
  const pixel = new Image(gl, gl.RGBA8, 1, 1), one = new Uint8Array(4);

  const make = (operation, [width, height]) => {
    if (operation !== 'frames') throw new Error(`no such operation: ${operation}`);
    const [picture, ...between] = [0, 1, 2].map(() => new Image(gl, gl.RGBA32F, width, height));
    gl.bindTexture(gl.TEXTURE_2D, picture.texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, gl.RGBA, gl.FLOAT, generated(4 * width * height, 1, 0));
    gl.viewport(0, 0, width, height);
    const draw = () => {
      for (let i = 0; i < passes; i++) {
        gl.bindFramebuffer(gl.FRAMEBUFFER, between[i % 2].framebuffer);
        gl.bindTexture(gl.TEXTURE_2D, (i ? between[(i + 1) % 2] : picture).texture);
        gl.uniform2i(along, 1 - (i % 2), i % 2);
        gl.drawArrays(gl.TRIANGLES, 0, 3);
      }
    };
    return {
      run() { // until the device is done: neither flush nor finish waits for the process that draws
        draw();
        gl.bindFramebuffer(gl.FRAMEBUFFER, pixel.framebuffer);
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, one);
      },
      result() {
        draw();
        const values = new Float32Array(4 * width * height);
        gl.readPixels(0, 0, width, height, gl.RGBA, gl.FLOAT, values);
        return values;
      },
      free() { for (const image of [picture, ...between]) image.free(); },
    };
  };
  return { device: 'plain WebGL2', answer: answering(make) };
}
