// layout.mjs PACKAGES TARGET: lays out the default Dawn and ANGLE from the installed npm packages.
//
//   TARGET/dawn/lib/libwebgpu_wrapper.so     Dawn, all wgpu* functions
//   TARGET/dawn/include/webgpu/webgpu.h      Dawn's header, corrected to fit that library
//   TARGET/angle/*                           ANGLE (EGL, GLES), SwiftShader and its Vulkan loader, known by their paths only
//
// The library is of June 2025, the header a few weeks newer. Their structs and functions agree but for what
// correctHeader() puts back; the numbers come from bun-webgpu, which is written for this very library.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

const [packages, target] = process.argv.slice(2);

// Replaces exactly one place, so that a package that changed is noticed here and not as a crash later.
function replaceOnce(text, pattern, replacement) {
  const found = text.match(new RegExp(pattern, 'g'))?.length ?? 0;
  if (found !== 1) throw new Error(`webgpu.h: expected ${pattern} once, found it ${found} times`);
  return text.replace(pattern, replacement);
}

// 'rgba8unorm-srgb' in JavaScript and RGBA8UnormSrgb in C are one name.
const plain = (name) => name.toLowerCase().replaceAll('-', '');

// The entries of `var NAME = defineEnum({ key: 1, "other-key": 2 }, ...)` in bun-webgpu's index.js.
function readEnum(script, name) {
  const body = script.match(new RegExp(`var ${name} = defineEnum\\(\\{([^}]*)\\}`))[1];
  const entries = [...body.matchAll(/"?([\w-]+)"?: (\d+)/g)];
  return new Map(entries.map(([, key, value]) => [plain(key), Number(value)]));
}

// Gives the enumerators of one C enum the values that `valueOf` returns, where it returns one.
function renumber(header, name, valueOf) {
  const pattern = new RegExp(`typedef enum ${name} \\{[^}]*\\}`);
  return replaceOnce(header, pattern, (whole) =>
    whole.replace(/_(\w+) = (0x[0-9A-F]+)/g, (line, key, old) => {
      const value = valueOf(plain(key), Number(old)) ?? Number(old);
      return `_${key} = 0x${value.toString(16).toUpperCase().padStart(8, '0')}`;
    }),
  );
}

function correctHeader(header, script) {
  const formats = readEnum(script, 'WGPUTextureFormat');
  header = renumber(header, 'WGPUTextureFormat', (key) => formats.get(key));
  // Only the standard features: Dawn's own, from 0x50000 on, are right in the header and off by one in the table.
  const features = readEnum(script, 'WGPUFeatureNameDef');
  header = renumber(header, 'WGPUFeatureName', (key, old) => (old < 0x50000 ? features.get(key) : old));

  // Blocking waits are asked for in a nested struct here; requiredFeatures came a month later.
  header = replaceOnce(
    header,
    /typedef struct WGPUInstanceDescriptor \{[^}]*\}/,
    `typedef struct WGPUInstanceCapabilities {
    WGPUChainedStruct * nextInChain;
    WGPUBool timedWaitAnyEnable;
    size_t timedWaitAnyMaxCount;
} WGPUInstanceCapabilities WGPU_STRUCTURE_ATTRIBUTE;

typedef struct WGPUInstanceDescriptor {
    WGPUChainedStruct * nextInChain;
    WGPUInstanceCapabilities capabilities;
}`,
  );
  header = replaceOnce(
    header,
    /(#define WGPU_INSTANCE_DESCRIPTOR_INIT .*\n.*\n)(.*required.*\n){3}/,
    '$1    /*.capabilities=*/{NULL _wgpu_COMMA 0 _wgpu_COMMA 0} _wgpu_COMMA \\\n',
  );

  header = replaceOnce(header, /WGPUStatus (?=\(\*WGPUProcSurfacePresent\))/, 'void ');
  return replaceOnce(header, /WGPUStatus (?=wgpuSurfacePresent\()/, 'void ');
}

function layOutDawn() {
  const header = readFileSync(join(packages, 'react-native-wgpu/cpp/webgpu/webgpu.h'), 'utf8');
  const script = readFileSync(join(packages, 'bun-webgpu/index.js'), 'utf8');
  mkdirSync(join(target, 'dawn/include/webgpu'), { recursive: true });
  mkdirSync(join(target, 'dawn/lib'), { recursive: true });
  writeFileSync(join(target, 'dawn/include/webgpu/webgpu.h'), correctHeader(header, script));
  const library = 'libwebgpu_wrapper.so';
  copyFileSync(join(packages, 'bun-webgpu-linux-x64', library), join(target, 'dawn/lib', library));
}

// The plain files of a tar archive: a header block of 512 bytes each, then the content in whole blocks.
function* filesOfTar(tar) {
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const field = (from, length) => tar.toString('latin1', at + from, at + from + length).split('\0')[0];
    const size = parseInt(field(124, 12), 8);
    const isFile = field(156, 1) === '0' || field(156, 1) === '';
    if (isFile) yield { name: basename(field(0, 100)), content: tar.subarray(at + 512, at + 512 + size) };
    at += 512 + Math.ceil(size / 512) * 512;
  }
}

// A library without its DT_SONAME, the name under which the dynamic linker gives it to everybody who asks once it is
// loaded. Dawn and hosts are to find the system's libvulkan.so.1, libEGL.so and libGLESv2.so whatever tessera has loaded;
// tessera and ANGLE open these ones by their full paths.
function withoutSoname(library) {
  const number = (at) => Number(library.readBigUInt64LE(at));
  const dynamicSegment = 2, soname = 14; // PT_DYNAMIC, DT_SONAME
  for (let segment = number(0x20), left = library.readUInt16LE(0x38); left > 0; segment += 56, left--) {
    if (library.readUInt32LE(segment) !== dynamicSegment) continue;
    const begin = number(segment + 8);
    const end = begin + number(segment + 32);
    for (let entry = begin; entry < end; entry += 16) {
      if (number(entry) === soname) library.copyWithin(entry, entry + 16, end); // the last entries are empty ones
    }
  }
  return library;
}

function layOutAngle() {
  const archive = readFileSync(join(packages, '@sparticuz/chromium/bin/swiftshader.tar.br'));
  mkdirSync(join(target, 'angle'), { recursive: true });
  for (const { name, content } of filesOfTar(brotliDecompressSync(archive))) {
    const isLibrary = name.includes('.so');
    writeFileSync(join(target, 'angle', name), isLibrary ? withoutSoname(content) : content, { mode: 0o644 });
  }
  // Vulkan resolves a library path with a slash against the file that names it, so the folder can move.
  const driver = JSON.parse(readFileSync(join(target, 'angle/vk_swiftshader_icd.json'), 'utf8'));
  if (driver.ICD.library_path !== './libvk_swiftshader.so') {
    throw new Error(`vk_swiftshader_icd.json points to ${driver.ICD.library_path}`);
  }
}

for (const folder of ['dawn', 'angle']) rmSync(join(target, folder), { recursive: true, force: true });
layOutDawn();
layOutAngle();
