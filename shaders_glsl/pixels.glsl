// Pixel kernels (core/kernel/pixel_kernel.h). One fragment makes one pixel of each output; of an output in elements, it
// makes one texel, which is four consecutive elements, from the pixels that these belong to. backend_gles/pixel_shader.cpp
// fills in the lines that begin with //@, and says in CHANNELS, 1 to 4, whether the output is in elements.
//@head
uniform int output_width;  // of the texture of elements
#ifdef IS_FROM_CORNER
const ivec2 corner = ivec2(0);
#else
uniform ivec2 corner;  // where the image begins in the host's target, or a slice of a volume in the image
#endif
//@words

//@place
//@functions
//@inputs
//@outputs
#ifndef CHANNELS
void main() {
  int x = int(gl_FragCoord.x) - corner.x, y = int(gl_FragCoord.y) - corner.y;
//@flip
//@body
//@results
}
#else
VECTOR pixel(int x, int y) {
//@pixel
}

// The pixel with that number, or the last one.
VECTOR pixel_at(int number) {
  ivec2 at = place(min(number, word_int(0) * word_int(1) - 1), word_int(0));
  return pixel(at.x, at.y);
}

void main() {
  int first = 4 * (int(gl_FragCoord.y) * output_width + int(gl_FragCoord.x));
  bvec4 inside = lessThan(ivec4(first) + ivec4(0, 1, 2, 3), ivec4(word_int(0) * word_int(1) * CHANNELS));
#if CHANNELS == 1
  VECTOR four;
  for (int k = 0; k < 4; ++k) four[k] = pixel_at(first + k).x;
#elif CHANNELS == 2
  VECTOR a = pixel_at(first / 2), b = pixel_at(first / 2 + 1), four = VECTOR(a.xy, b.xy);
#elif CHANNELS == 3
  int number = first / 3, skipped = first - 3 * number;
  VECTOR a = pixel_at(number), b = pixel_at(number + 1);
  VECTOR four = skipped == 0 ? VECTOR(a.xyz, b.x) : skipped == 1 ? VECTOR(a.yz, b.xy) : VECTOR(a.z, b.xyz);
#else
  VECTOR four = pixel_at(first / 4);
#endif
//@elements
}
#endif
