// The two commands; each gives what the program ends with.
#pragma once
#include "inputs.h"
#include "options.h"
#include "outputs.h"

namespace command {

tessera::Context context_of(const Options&);
Outputs outputs_of(const tessera::Model&, const std::map<std::string, tessera::Tensor>& inputs);

int run(const Options&);
int explain(const Options&);
int check(const Options&, const Inputs&);  // on every device

}  // namespace command
