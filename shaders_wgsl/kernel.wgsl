// Every kernel starts with this. backend_webgpu/shader.cpp fills in the lines that begin with //@.

//@constants
//@words
//@bindings

var<private> texel: u32;  // of the output: the one that this invocation makes, or the first of two

// The parameters of the core, counted from 0; its functions write parameters.name instead.
fn core_word(index: u32) -> u32 { return word(index + 1u); }
fn core_int(index: u32) -> i32 { return i32(word(index + 1u)); }
fn core_float(index: u32) -> f32 { return word_float(index + 1u); }

// The output elements of a texel; past the end the last one again, so that no input is read out of bounds.
fn elements_of(texel: u32) -> vec4u { return min(4u * texel + vec4u(0u, 1u, 2u, 3u), vec4u(word_0 - 1u)); }
fn elements() -> vec4u { return elements_of(texel); }

//@functions
//@inputs
//@finish
//@core
