// The results of a model: in the terminal, as a picture, or as .npy files.
#pragma once
#include "npy.h"
#include "options.h"

namespace command {

using Outputs = std::map<std::string, Elements>;

void print(const std::string& name, const Elements&, int top);

// Where the options say; nothing if they do not. Throws std::runtime_error where that fails.
void write(const Outputs&, const Options&);

}  // namespace command
