// Parameters and options in the text of shaders.
#pragma once
#include <string>
#include <string_view>

#include "core/kernel/kernel.h"

namespace tessera {

// Writes each `parameters.name` of a core's functions as the read of its word, core_word(3u), core_int(3u) or
// core_float(3u), and each `options.name` as the constant option_name. Elements of arrays have an index, of the name or
// of a part of it: parameters.axes[i].stride; it may be any expression, and `unsigned_type` is the type to convert it
// to. A name that the core's entry does not declare is a std::logic_error.
std::string with_words_for_names(std::string_view code, const KernelCore&, std::string_view unsigned_type);

std::string option_name(const KernelCore&, std::size_t option);  // of the constant

}  // namespace tessera
