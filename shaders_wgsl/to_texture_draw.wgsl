// Into a render attachment, with the triangle of triangle.wgsl.
@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
  return colour(u32(position.x), u32(position.y));
}
