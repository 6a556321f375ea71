// Triangles that go on to the end of the viewport from a texel on, to the right and upwards: from the first texel of the
// output; then, where its elements do not fill the texture, from the texel where they end, from the one beside it, and
// from the row above. Later ones are drawn over earlier ones. Names begin with tessera_ as no name of a kernel's does.
uniform vec2 tessera_texel_size;   // as a part of the viewport
uniform float tessera_is_flipped;  // 1 where the host has the first row above (glClipControl)
uniform ivec3 tessera_end;         // the place of the texel in which the elements end, and how many of them are in there
flat out ivec4 tessera_inside;     // all bits of components that are elements, none of the others

void main() {
  int triangle = gl_VertexID / 3, corner = gl_VertexID - 3 * triangle;
  ivec2 from = triangle == 0 ? ivec2(0) : tessera_end.xy;
  if (triangle == 2) from.x += 1;
  if (triangle == 3) from = ivec2(0, tessera_end.y + 1);
  tessera_inside = ivec4(triangle == 0 ? -1 : 0);
  if (triangle == 1) tessera_inside = -ivec4(lessThan(ivec4(0, 1, 2, 3), tessera_end.zzzz));
  gl_Position = vec4(2.0 * vec2(from) * tessera_texel_size - 1.0 + 4.0 * vec2(corner & 1, corner >> 1), 0.0, 1.0);
  gl_Position.y *= 1.0 - 2.0 * tessera_is_flipped;
}
