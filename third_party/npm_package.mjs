// Packages of npm, pinned by version and hash. Of each only its files are wanted, not what it depends on, and so `npm pack`
// gets it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// Unpacks these files of a package (all where there are none) into FOLDER/package, and gives that folder.
export function unpackPackage({ package: name, version, integrity }, folder, files = []) {
  const options = ['--ignore-scripts', '--loglevel=error', '--json', '--cache', join(folder, 'cache')];
  const printed = execFileSync('npm', ['pack', `${name}@${version}`, ...options], { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26 });
  const archive = join(folder, JSON.parse(printed)[0].filename.replace('@', '').replace('/', '-'));
  const hash = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (hash !== integrity) throw new Error(`${name}@${version} is ${hash}, not ${integrity}`);
  execFileSync('tar', ['-xzf', archive, '-C', folder, ...files.map((file) => `package/${file}`)]);
  return join(folder, 'package');
}
