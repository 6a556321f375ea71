// The parameters of a dispatch: words of 32 bits.
@group(0) @binding(0) var<uniform> words: array<vec4u, word_vectors>;

// The bits of the first word, which no text has as a constant: see opaque().
fn unknown_word() -> u32 { return words[0][0]; }
fn word(index: u32) -> u32 { return words[index / 4u][index % 4u]; }
fn word_float(index: u32) -> f32 { return bitcast<f32>(word(index)); }
fn floats_of_words(vector: u32) -> vec4f { return bitcast<vec4f>(words[vector]); }
fn ints_of_words(vector: u32) -> vec4i { return bitcast<vec4i>(words[vector]); }
