// Each invocation makes one texel of the output: four elements, from the pixels that they belong to.

fn pixel_at(index: u32) -> pixel_vector {
  let size = words[0].xy;
  let inside = min(index, size.x * size.y - 1u);
  return make_pixel(i32(inside % size.x), i32(inside / size.x));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let texel = id.y * groups.x * 64u + id.x;
  let elements = words[0].x * words[0].y * channels;
  if (4u * texel >= elements) { return; }
  let first = 4u * texel / channels;
//@elements
  let value = select(pixel_vector(), made, 4u * texel + vec4u(0u, 1u, 2u, 3u) < vec4u(elements));
//@store
}
