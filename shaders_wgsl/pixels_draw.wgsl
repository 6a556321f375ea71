// Each fragment is a pixel of the host's target, and makes that pixel of the other outputs too.
@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
  let row = i32(position.y);
  return make_pixel(i32(position.x), select(row, ints_of_words(0u).y - 1 - row, is_flipped));
}
