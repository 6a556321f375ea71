// Runs the checks, those of a name that the address has in `only`, and hands the results to who drives the page.
import { checks } from './check.js';
await import('./ops_checks.js');
await import('./interop_checks.js');
await import('./embedding_checks.js');

const only = new URLSearchParams(location.search).get('only') ?? '';
const cases = [];
for (const { name, run } of checks.filter((check) => check.name.includes(only))) {
  const begin = performance.now();
  let failure = '';
  try {
    await run();
  } catch (error) {
    failure = error.stack?.includes(error.message) ? error.stack : `${error.message}\n${error.stack}`;
  }
  const line = `${failure ? 'FAILED' : 'ok'}  ${name} (${(performance.now() - begin).toFixed(0)} ms)${failure ? `\n${failure}` : ''}`;
  document.getElementById('out').textContent += `${line}\n`;
  console.log(line);
  cases.push({ name, status: 'RUN', result: 'COMPLETED', ...(failure ? { failures: [{ failure }] } : {}) });
}
globalThis.tesseraOutcome = {
  json: JSON.stringify({ tests: cases.length, failures: cases.filter(({ failures }) => failures).length, disabled: 0,
    testsuites: [{ name: 'tessera.js', testsuite: cases }] }, null, 2),
};
