// How a peer in JavaScript, in node or in a page, answers a line; see peer.h.
function checkOf(values) {
  let total = 0;
  for (const value of values) total += value * value;
  const count = Math.min(values.length, 1000);
  const sample = Array.from({ length: count }, (_, i) => values[Math.floor((i * values.length) / count)]);
  return { check: Math.sqrt(total / values.length), count: values.length, sample };
}

// In ms, of all threads of this process; in a page, those who drive the browser count.
function cpuTime() {
  const { user, system } = globalThis.process?.cpuUsage() ?? {};
  return (user + system) / 1000;
}

// make(operation, arguments) gives {run, result, free}: run() is done when the device is.
export function answering(make) {
  let present, workload;
  return async (line) => {
    const [verb, count, ...words] = line.trim().split(/\s+/), wanted = words.join(' ');
    try {
      if (wanted !== present || !workload) {
        const old = workload;
        workload = undefined;
        present = wanted;
        await old?.free();
        workload = await make(words[0], words[0] === 'model' ? words.slice(1) : words.slice(1).map(Number));
      }
      if (verb === 'check') return checkOf(await workload.result());
      const ms = [], cpu = cpuTime();
      for (let i = 0; i < Number(count); i++) {
        const before = performance.now();
        await workload.run();
        ms.push(performance.now() - before);
      }
      return { ms, cpu_ms: cpuTime() - cpu };
    } catch (error) {
      return { error: String(error?.message ?? error).slice(0, 300) };
    }
  };
}
