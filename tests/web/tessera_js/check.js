// What checks are written with.
import { createContext } from 'tessera';

export const checks = [];
export const check = (name, run) => checks.push({ name, run });

// One check for each backend, with a context of tessera's own.
export function checkOnEach(name, run, backends = ['webgpu', 'webgl', 'cpu']) {
  for (const backend of backends)
    check(`${name} on ${backend}`, async () => {
      const gpu = await createContext({ backends: [backend] });
      if (gpu.backend != backend) throw new Error(`the context is on ${gpu.backend}`);
      try {
        await run(gpu);
      } finally {
        gpu.close();
      }
    });
}

export function equal(got, wanted, what = 'value') {
  const [a, b] = [got, wanted].map((value) => JSON.stringify(ArrayBuffer.isView(value) ? [...value] : value));
  if (a !== b) throw new Error(`${what}: ${a?.slice(0, 300)} is not ${b?.slice(0, 300)}`);
}
export function near(got, wanted, tolerance = 1e-5) {
  equal(got.length, wanted.length, 'length');
  wanted.forEach((value, i) => {
    const off = Math.abs(got[i] - value);
    if (!(off <= tolerance * Math.max(1, Math.abs(value)))) throw new Error(`element ${i}: ${got[i]} is not ${value}`);
  });
}
// Calls what is to fail with this code.
export async function fails(code, work) {
  try {
    await work();
  } catch (error) {
    return equal(error.code, code, `code of "${error.message}"`);
  }
  throw new Error(`nothing failed where ${code} was due`);
}

// Numbers that look random, the same each time.
export function numbers(count, seed = 1) {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    return state / 0x40000000 - 1;
  });
}
