// run.mjs FOLDER RESULTS.json SECONDS OPTION=VALUE...: runs the tests of a folder in a page, with these options of
// GoogleTest, and writes their results down. Fails as they do.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Chromium, serve } from './chromium.mjs';

const [folder, file, seconds, ...options] = process.argv.slice(2);
const server = await serve(folder);
const browser = await Chromium.start();
browser.onMessage = (text) => console.log(text);
await browser.open(`http://localhost:${server.address().port}/?${new URLSearchParams(options.map((o) => o.split(/=(.*)/s, 2)))}`);
const outcome = (await browser.until('globalThis.tesseraOutcome', +seconds)) ?? { error: `nothing came of it in ${seconds} s` };
await browser.close();
server.close();
if (outcome.json) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, outcome.json);
  process.exitCode = JSON.parse(outcome.json).failures == 0 ? 0 : 1;
} else {
  console.log(`! ${outcome.error}`);
  process.exitCode = 1;
}
