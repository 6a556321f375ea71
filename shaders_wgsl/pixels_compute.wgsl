// Each invocation makes one pixel of every output.
@compute @workgroup_size(workgroup_width, workgroup_height)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (any(id.xy >= words[0].xy)) { return; }
  make_pixel(i32(id.x), i32(id.y));
}
