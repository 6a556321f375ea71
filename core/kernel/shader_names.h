// Checks of a user's names for GLSL and WGSL text.
#pragma once
#include <string>
#include <string_view>

namespace tessera {

// Each gives the reason why a name cannot be declared, as the end of a sentence that begins with the name: "is a word
// that GLSL reserves". Empty: it can be.
std::string fault_of_glsl_part(std::string_view);      // as the beginning of a longer name
std::string fault_of_glsl_variable(std::string_view);  // GLSL ES 3.00, as WebGL 2 has it
std::string fault_of_glsl_function(std::string_view);
std::string fault_of_wgsl_name(std::string_view);

}  // namespace tessera
