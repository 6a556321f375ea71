// Every kernel: one fragment makes one texel, which is four consecutive elements of the output. backend_gles/shader.cpp
// fills in the lines that begin with //@; a map kernel has no core. With LAID_OUT the texel that a fragment makes is the
// one that find_texel() finds for its place.
//@head
// The parameters of the core, counted from 0; its functions write parameters.name instead.
#define core_word(i) uint(word_int(int(i) + 1))
#define core_int(i) word_int(int(i) + 1)
#define core_float(i) word_float(int(i) + 1)

uniform int output_width;
flat in ivec4 tessera_inside;  // see vertices.glsl
//@words

int t;           // the texel to make, or the last one where there is none to make
uvec4 elements;  // its elements; past the end of the output, the last one

//@place
//@functions
//@inputs
//@core
//@output
void main() {
#ifdef LAID_OUT
  if (!find_texel(int(gl_FragCoord.x), int(gl_FragCoord.y))) {
    result = vec4(0.0);
    return;
  }
  elements = uvec4(4 * t) + uvec4(0u, 1u, 2u, 3u);
#else
  int n = word_int(0);
  int texel = int(gl_FragCoord.y) * output_width + int(gl_FragCoord.x);
  t = min(texel, (n - 1) >> 2);
  elements = min(uvec4(4 * t) + uvec4(0u, 1u, 2u, 3u), uvec4(n - 1));
#endif
//@call
//@expression
//@result
}
