// Writes an image tensor into a host's texture or framebuffer: one fragment makes one pixel. The lines that begin with
// //@ are filled in by backend_gles/texture_export.cpp: the sampler, the type of a pixel, `const int channels` and `scale`.
//@declarations
uniform ivec2 size;        // of the image
uniform ivec2 corner;      // where it begins in the target
uniform int first;         // element of the texture that the image begins with
uniform bool flip_y;

float element(int at) {
  int width = textureSize(image, 0).x, texel = at >> 2;
  return float(texelFetch(image, ivec2(texel % width, texel / width), 0)[at & 3]) * scale;
}

void main() {
  ivec2 at = ivec2(gl_FragCoord.xy) - corner;
  if (flip_y) at.y = size.y - 1 - at.y;
  int begin = first + (at.y * size.x + at.x) * channels;
  vec4 value = vec4(element(begin));
  if (channels > 1) value.g = element(begin + 1);
  if (channels > 2) value.b = element(begin + 2);
  if (channels == 2) value.b = 0.0;
  value.a = channels == 4 ? element(begin + 3) : 1.0;
//@result
}
