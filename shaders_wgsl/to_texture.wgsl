// webgpu::to_texture: the colour of a pixel from the elements of an image.

// `word` and `channels`:
//@constants
@group(0) @binding(0) var<uniform> words: vec4u;  // the first element, width and height of the image, whether it is flipped
@group(0) @binding(1) var<storage, read> source: array<word>;

//@element
fn colour(x: u32, y: u32) -> vec4f {
  let row = select(y, words.z - 1u - y, words.w != 0u);
  let first = words.x + (row * words.y + x) * channels;
  let red = element(first);
  if (channels == 1u) { return vec4f(red, red, red, 1.0); }
  let green = element(first + 1u);
  if (channels == 2u) { return vec4f(red, green, 0.0, 1.0); }
  let blue = element(first + 2u);
  if (channels == 3u) { return vec4f(red, green, blue, 1.0); }
  return vec4f(red, green, blue, element(first + 3u));
}

//@entry
