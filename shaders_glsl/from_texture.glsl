// Reads a host's texture into a tensor of [height, width, channels] f32: one fragment makes four consecutive elements.
// backend_gles/texture_import.cpp fills in the lines that begin with //@: the sampler, and `const int channels`.
//@declarations
uniform ivec2 size;          // of the host's texture
uniform ivec4 order;         // the component that each channel is
uniform int output_width;
layout(location = 0) out vec4 result;

vec4 pixel(int at) { return vec4(texelFetch(host, ivec2(at % size.x, at / size.x), 0)); }

void main() {
  int texel = int(gl_FragCoord.y) * output_width + int(gl_FragCoord.x);
  int pixels = size.x * size.y;
  vec4 values = vec4(0.0);
  if (channels == 4) {
    if (texel < pixels) values = pixel(texel);
    values = vec4(values[order.x], values[order.y], values[order.z], values[order.w]);
  } else {
    for (int k = 0; k < 4; ++k) {
      int element = 4 * texel + k, at = element / channels;
      if (at < pixels) values[k] = pixel(at)[order[element - at * channels]];
    }
  }
  result = values;
}
