// TF.js in a page, which has it as the global `tf`: on WebGL for tfjs_webgl.mjs, on either backend for bench/web.
import { answering } from './answer.mjs';
import { tfjsWorkloads } from './tfjs.mjs';
import { webgpuDevice } from './tfjs_device.mjs';

const tf = globalThis.tf;

const loadBytes = async (file) => (await fetch(`/models/${file}`)).arrayBuffer();

function webglDevice(backend) {
  return {
    upload: (tensor) => tensor.dataId && backend.uploadToGPU(tensor.dataId),
    done(tensor) { // reads one element: neither flush nor finish waits for the process that draws
      const first = tf.tidy(() => tf.slice(tf.reshape(tensor, [-1]), [0], [1]));
      first.dataSync();
      first.dispose();
    },
  };
}

export async function start(name = 'webgl') {
  tf.env().set('WEBGL_CPU_FORWARD', false);
  if (name === 'webgpu') tf.env().set('WEBGPU_CPU_FORWARD', false);
  if (!(await tf.setBackend(name))) throw new Error(`TF.js has no ${name}`);
  await tf.ready();
  const backend = tf.backend();
  if (name === 'webgpu') {
    const { vendor, architecture, description } = backend.device.adapterInfo ?? {};
    return {
      device: `${description || `${vendor} ${architecture}`} (Chromium)`,
      answer: answering(tfjsWorkloads(tf, webgpuDevice(backend), loadBytes)),
    };
  }
  const gl = backend.gpgpu.gl, info = gl.getExtension('WEBGL_debug_renderer_info');
  return {
    device: `${gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER)} (Chromium)`,
    answer: answering(tfjsWorkloads(tf, webglDevice(backend), loadBytes)),
  };
}
