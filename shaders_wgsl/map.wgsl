// map: pointwise work with broadcasting. Each invocation computes one texel, four consecutive elements of the output.
// The lines that begin with //@ are filled in by backend_webgpu/shader.cpp.

//@constants
@group(0) @binding(0) var<uniform> words: array<vec4u, word_vectors>;
//@bindings

var<private> texel: u32;  // the one that this invocation computes

fn word(index: u32) -> u32 { return words[index / 4u][index % 4u]; }
fn word_float(index: u32) -> f32 { return bitcast<f32>(word(index)); }
fn word_int(index: u32) -> i32 { return bitcast<i32>(word(index)); }

// The output elements of this texel. Past the end it is the last one again, so that no input is read out of bounds.
fn elements() -> vec4u { return min(4u * texel + vec4u(0u, 1u, 2u, 3u), vec4u(word(0u) - 1u)); }

// One term of a strided input: its block, size and stride are the words from `first` on.
fn term(first: u32, element: vec4u) -> vec4u {
  return ((element / word(first)) % word(first + 1u)) * word(first + 2u);
}

//@inputs
//@functions

@compute @workgroup_size(workgroup_size)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  texel = (group.y * groups.x + group.x) * workgroup_size + local;
  let count = word(0u);
  if (texel > (count - 1u) / 4u) { return; }
  let inside = 4u * texel + vec4u(0u, 1u, 2u, 3u) < vec4u(count);
//@expression
//@store
}
