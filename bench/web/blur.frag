#version 300 es
// One pass of the filter by hand: 11 taps in the direction `along`, at the borders reflected (c b | a b c | b a).
precision highp float;
precision highp sampler2D;
uniform sampler2D image;
uniform ivec2 along;
uniform float weights[6]; // of the pixel itself, and of those at each distance on both sides
out vec4 blurred;

void main() {
  ivec2 last = textureSize(image, 0) - 1, at = ivec2(gl_FragCoord.xy);
  blurred = weights[0] * texelFetch(image, at, 0);
  for (int i = 1; i < 6; ++i) {
    ivec2 before = abs(at - i * along), after = last - abs(last - (at + i * along));
    blurred += weights[i] * (texelFetch(image, before, 0) + texelFetch(image, after, 0));
  }
}
