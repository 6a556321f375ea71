#version 450
layout(binding = 1) uniform sampler2D frame;
layout(location = 0) out vec4 color;
void main() {
  vec2 from_middle = gl_FragCoord.xy / vec2(textureSize(frame, 0)) - 0.5;
  color = vec4(texelFetch(frame, ivec2(gl_FragCoord.xy), 0).rgb * (1.0 - 0.6 * dot(from_middle, from_middle)), 1.0);
}
