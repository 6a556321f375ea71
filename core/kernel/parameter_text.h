// Parameters and options in the text of shaders.
#pragma once
#include <string>
#include <string_view>

#include "core/kernel/kernel.h"

namespace tessera {

// Writes each `parameters.name` of a core's functions as the read of its word, core_word(3u), core_int(3u) or
// core_float(3u), and each `options.name` as the constant option_name. Elements of arrays have an index:
// parameters.axes[i].stride; it may be any expression, which is converted to `unsigned_type`. A name that the core's
// entry does not declare is a std::logic_error.
std::string with_words_for_names(std::string_view code, const KernelCore&, std::string_view unsigned_type);

std::string option_name(const KernelCore&, std::size_t option);  // of the constant

}  // namespace tessera
