#version 450
layout(binding = 0) uniform Uniforms { mat4 view_projection; mat4 models[2]; };
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec3 world_normal;
layout(location = 1) out vec2 texture_uv;
void main() {
  mat4 model = models[gl_InstanceIndex];
  world_normal = mat3(model) * normal;
  texture_uv = uv;
  gl_Position = view_projection * model * vec4(position, 1.0);
}
