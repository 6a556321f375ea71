// run_page.mjs FOLDER PAGE RESULTS.json SECONDS: opens a page of a folder in a headless Chromium and writes down the results
// of its tests, globalThis.tesseraOutcome, which are in the form of GoogleTest's. Fails as they do.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Chromium, serve } from './chromium.mjs';

const [folder, page, file, seconds] = process.argv.slice(2);
const server = await serve(folder);
const browser = await Chromium.start();
browser.onMessage = (text) => console.log(text);
await browser.open(`http://localhost:${server.address().port}/${page}`);
const outcome = await browser.until('globalThis.tesseraOutcome', +seconds);
await browser.close();
server.close();
if (!outcome) console.log(`! nothing came of it in ${seconds} s`);
process.exitCode = outcome && JSON.parse(outcome.json).failures == 0 ? 0 : 1;
if (outcome) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, outcome.json);
}
