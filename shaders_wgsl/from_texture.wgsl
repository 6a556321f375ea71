// webgpu::from_texture: the pixels of a host's texture as elements; each invocation makes one texel of the tensor.

// `sampled`, `channels` and `order`, the component that each channel is:
//@constants
@group(0) @binding(0) var image: texture_2d<sampled>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4f>;

fn pixel(index: u32) -> vec4f {
  let width = textureDimensions(image).x;
  return vec4f(textureLoad(image, vec2u(index % width, index / width), 0));
}

fn element(index: u32) -> f32 { return pixel(index / channels)[order[index % channels]]; }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_id) local: vec3u) {
  let texel = (group.y * groups.x + group.x) * 64u + local.x;
  let size = textureDimensions(image);
  let count = size.x * size.y * channels;
  if (4u * texel >= count) { return; }
  if (channels == 4u) {
    let value = pixel(texel);
    destination[texel] = vec4f(value[order[0]], value[order[1]], value[order[2]], value[order[3]]);
    return;
  }
  let wanted = 4u * texel + vec4u(0u, 1u, 2u, 3u);
  let at = min(wanted, vec4u(count - 1u));
  let value = vec4f(element(at.x), element(at.y), element(at.z), element(at.w));
  destination[texel] = select(vec4f(), value, wanted < vec4u(count));
}
