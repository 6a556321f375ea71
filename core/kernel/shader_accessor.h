// The part of a shader accessor that all shading languages share: NAME_at(…), an element by its indices.
#pragma once
#include <string>
#include <string_view>

#include <tessera/shape.h>

namespace tessera {

// A language's way to write an index.
struct IndexSpelling {
  std::string_view before, after;  // of a parameter's name: "highp int " or ": u32"
  std::string_view number_suffix;  // "u" where numbers are unsigned
};

struct IndexText {
  std::string parameters;  // an index for each axis
  std::string element;     // the number of the element with these indices
};
// The parameters' names begin with the accessor's own, so that none of them can hide it.
IndexText index_text(const std::string& accessor, const Shape&, const IndexSpelling&);

// Throws invalid_argument where `fault` (core/kernel/shader_names.h) speaks against the name of an accessor.
void check_accessor_name(std::string_view op, std::string_view language, std::string_view name,
                         const std::string& fault);

}  // namespace tessera
