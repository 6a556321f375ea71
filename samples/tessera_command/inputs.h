// The tensors that go into a model: from pictures, from .npy files, or made up.
#pragma once
#include <map>
#include <string>

#include "npy.h"
#include "options.h"
#include <tessera/model.h>

namespace command {

using Inputs = std::map<std::string, Elements>;

// Throws std::runtime_error that names the input where its file does not fit.
Inputs inputs_of(const tessera::Model&, const Options&);

std::map<std::string, tessera::Shape> sizes_of(const Inputs&);
std::map<std::string, tessera::Tensor> on(tessera::Context&, const Inputs&);

// The sizes that the options give to inputs, with 1 for those that nobody gives.
std::map<std::string, tessera::Shape> sizes_of(const tessera::Model&, const Options&);

}  // namespace command
