// What a program and those that it has started have taken of the processor, as Linux counts it.
import { readdirSync, readFileSync } from 'node:fs';

// In ms, of all threads whose names are such; of a browser one process draws, and another one runs the page.
export function cpuTimeOf(pid, names = /^/) {
  const children = new Map(); // of a process
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const parent = readFileSync(`/proc/${id}/stat`, 'utf8').replace(/.*\) /s, '').split(' ')[1];
      children.set(parent, [...(children.get(parent) ?? []), id]);
    } catch {} // it has ended
  const own = (id) => {
    let nanoseconds = 0;
    try {
      for (const thread of readdirSync(`/proc/${id}/task`))
        if (names.test(readFileSync(`/proc/${id}/task/${thread}/comm`, 'utf8')))
          nanoseconds += Number(readFileSync(`/proc/${id}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    } catch {}
    return nanoseconds / 1e6;
  };
  const total = (id) => (children.get(id) ?? []).reduce((sum, child) => sum + total(child), own(id));
  return total(`${pid}`);
}
