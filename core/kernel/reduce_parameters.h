// The parameters and options of the kernels in shaders_wgsl/reduce.wgsl. An entry gives [kept..., parts]: a stretch of
// `count` elements along the reduced axes is cut into parts. Part p takes the elements p, p + parts, p + 2 * parts, …
// such that neighbours read neighbours; or, in runs (reduce_has_runs), as many elements that lie nearer to each other.
// Where four stretches lie side by side in each texel of x, an entry reads texels across them, and gives [parts,
// kept...]. The first terms give where the kept elements start in x, the others where the reduced elements lie from
// there; the options count both.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

// Element i lies at the sum of ((i / block) % size) * stride.
struct ReduceTerm {
  Unsigned block, size, stride;
  TESSERA_PARAMETERS(block, size, stride);
};

enum class ReduceReading : std::int32_t {
  each_element,
  texels_along,
  texels_across,     // the stretches
  texels_of_single,  // along the only stretch, for the only result
};

struct ReduceFoldParameters {
  Unsigned count, parts;
  Unsigned kept;  // the number of stretches
  std::vector<ReduceTerm> terms;
  TESSERA_PARAMETERS(count, parts, kept, terms);
};
enum class Fold : std::int32_t { sum, product, largest, smallest };
struct ReduceFoldOptions {
  Signed kept_terms, reduced_terms;
  Signed reading;  // a ReduceReading
  Signed fold;     // a Fold
  TESSERA_PARAMETERS(kept_terms, reduced_terms, reading, fold);
};

struct ReduceMeanParameters {
  Unsigned count, parts, kept;
  Unsigned all;  // elements of x or, where x has means of parts, elements that those were made of
  std::vector<ReduceTerm> terms;
  TESSERA_PARAMETERS(count, parts, kept, all, terms);
};
struct ReduceMeanOptions {
  Signed kept_terms, reduced_terms, reading;
  Signed of_means;  // 1: x has means, which count for as many elements as their parts had
  TESSERA_PARAMETERS(kept_terms, reduced_terms, reading, of_means);
};

struct ReduceArgParameters {
  Unsigned count, parts;
  Signed turned_bits;  // of each element, such that the element sought is the largest
  std::vector<ReduceTerm> terms;
  TESSERA_PARAMETERS(count, parts, turned_bits, terms);
};
struct ReduceArgOptions {
  Signed kept_terms, reduced_terms, is_float;
  TESSERA_PARAMETERS(kept_terms, reduced_terms, is_float);
};

}  // namespace tessera
