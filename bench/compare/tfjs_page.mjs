// In the page of tfjs_webgl.mjs, which has TF.js as the global `tf`.
import { answering } from './answer.mjs';
import { tfjsWorkloads } from './tfjs.mjs';

const tf = globalThis.tf;

const loadBytes = async (file) => (await fetch(`/models/${file}`)).arrayBuffer();

export async function start() {
  if (!(await tf.setBackend('webgl'))) throw new Error('TF.js has no WebGL');
  await tf.ready();
  tf.env().set('WEBGL_CPU_FORWARD', false);
  const backend = tf.backend(), gl = backend.gpgpu.gl, info = gl.getExtension('WEBGL_debug_renderer_info');
  const device = {
    upload: (tensor) => tensor.dataId && backend.uploadToGPU(tensor.dataId),
    done(tensor) { // reads one element: neither flush nor finish waits for the process that draws
      const first = tf.tidy(() => tf.slice(tf.reshape(tensor, [-1]), [0], [1]));
      first.dataSync();
      first.dispose();
    },
  };
  return {
    device: `${gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER)} (Chromium)`,
    answer: answering(tfjsWorkloads(tf, device, loadBytes)),
  };
}
