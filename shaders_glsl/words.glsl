// The parameters of a kernel, which follow as `uniform ivec4 words[]`.
// The index is always constant, so that drivers need no array of uniforms in memory.
#define word_int(w) words[(w) >> 2][(w) & 3]
// The first word, which no text has as a constant: see opaque().
#define unknown_word() words[0][0]
#define word_float(w) intBitsToFloat(word_int(w))
#define floats_of_words(v) intBitsToFloat(words[v])
#define ints_of_words(v) words[v]
