// Each fragment is a pixel of the host's target, and makes that pixel of the other outputs too.
@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
//@corner
  let at = vec2i(position.xy) - corner;
  return make_pixel(at.x, select(at.y, ints_of_words(0u).y - 1 - at.y, is_flipped));
}
