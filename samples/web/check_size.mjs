// check_size.mjs FOLDER BYTES: tells how large the files of a page are when a server has compressed them, without models,
// and fails where all together have more than BYTES.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const [folder, most] = process.argv.slice(2);
const shown = ['.css', '.html', '.js', '.png', '.wasm'];
const files = readdirSync(folder).filter((name) => shown.includes(extname(name)));
const sizes = files.map((name) => [name, gzipSync(readFileSync(join(folder, name)), { level: 9 }).length]);
const sum = sizes.reduce((total, [, bytes]) => total + bytes, 0);
const inKilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
const largest = sizes.sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name, bytes]) => `${name} ${inKilobytes(bytes)}`).join(', ');
console.log(`The page: ${inKilobytes(sum)} gz of at most ${inKilobytes(+most)} (${largest})`);
if (sum > +most) process.exitCode = 1;
