// webgpu::from_buffer: a copy of a part of a host's buffer, which may start at any byte; each invocation makes a word.

// The first byte, and the number of bytes.
@group(0) @binding(0) var<uniform> words: vec4u;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> destination: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_id) local: vec3u) {
  let index = (group.y * groups.x + group.x) * 64u + local.x;
  if (index >= arrayLength(&destination)) { return; }
  // Up to the end of the last texel there are zeros.
  if (4u * index >= words.y) {
    destination[index] = 0u;
    return;
  }
  let first = words.x + 4u * index;
  let shift = 8u * (first % 4u);
  var value = source[first / 4u] >> shift;
  if (shift > 0u && first / 4u + 1u < arrayLength(&source)) { value |= source[first / 4u + 1u] << (32u - shift); }
  let bytes = words.y - 4u * index;
  destination[index] = select(value, extractBits(value, 0u, 8u * bytes), bytes < 4u);
}
