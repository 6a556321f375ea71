// Into a storage texture, whose type `stored_image` the constants name; each invocation writes a pixel.
@group(0) @binding(2) var image: stored_image;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_id) local: vec3u) {
  let index = (group.y * groups.x + group.x) * 64u + local.x;
  if (index >= words.y * words.z) { return; }
  let pixel = vec2u(index % words.y, index / words.y);
  textureStore(image, pixel, colour(pixel.x, pixel.y));
}
