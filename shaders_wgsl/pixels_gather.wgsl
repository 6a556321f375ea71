// Each invocation makes four pixels, whose elements are as many texels as a pixel has channels.

fn pixel_at(index: u32) -> pixel_vector {
  let size = words[0].xy;
  let inside = min(index, size.x * size.y - 1u);
  return make_pixel(i32(inside % size.x), i32(inside / size.x));
}

fn store_texel(texel: u32, elements: pixel_vector) {
  let count = words[0].x * words[0].y * channels;
  if (4u * texel >= count) { return; }
  let value = select(pixel_vector(), elements, 4u * texel + vec4u(0u, 1u, 2u, 3u) < vec4u(count));
//@store
}

// Compilers write out the loop where a pixel takes little work; else it keeps the code short.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let quad = id.y * groups.x * 64u + id.x;
  if (4u * quad >= words[0].x * words[0].y) { return; }
  var made: array<pixel_vector, 4>;
  for (var i = 0u; i < 4u; i++) { made[i] = pixel_at(4u * quad + i); }
//@texels
}
