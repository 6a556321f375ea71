#version 450
layout(binding = 1) uniform sampler2D cube_texture;
layout(location = 0) in vec3 world_normal;
layout(location = 1) in vec2 texture_uv;
layout(location = 0) out vec4 color;
void main() {
  vec4 texel = texture(cube_texture, texture_uv);
  float light = 0.2 + 0.8 * max(dot(normalize(world_normal), normalize(vec3(0.4, 0.8, 0.6))), 0.0);
  color = vec4(texel.rgb * mix(light, 1.0, texel.a), 1.0);
}
