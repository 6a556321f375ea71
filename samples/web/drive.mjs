// drive.mjs FOLDER [--headless PICTURE.png QUERY [SECONDS]]: serves the page on this machine and says its address; with
// --headless, opens it in Chromium instead, with this query, and takes a picture of it when it is done.
import { writeFileSync } from 'node:fs';
import { Chromium, serve } from '../../tests/web/chromium.mjs';

const [folder, headless, picture, query, seconds = '120'] = process.argv.slice(2);
const server = await serve(folder, headless ? 0 : +(process.env.PORT ?? 8000)).catch(() => serve(folder));
const address = `http://localhost:${server.address().port}/`;
if (!headless) {
  console.log(`== The page is at ${address}; Ctrl-C ends it`);
} else {
  const browser = await Chromium.start({ width: 1000, height: 960 });
  browser.onMessage = (text) => console.log(text);
  await browser.open(address + query);
  const title = await browser.until('["done", "failed"].includes(document.title) ? document.title : null', +seconds);
  writeFileSync(picture, await browser.screenshot());
  await browser.close();
  server.close();
  process.exitCode = title == 'done' ? 0 : 1;
}
