#include <cstdio>

#include "work.h"

namespace command {

int explain(const Options& options) {
  auto context = context_of(options);
  const auto model = tessera::Model::load(context, options.model);
  for (const tessera::ModelValue& input : model.inputs()) std::printf("input  %s\n", input.to_string().c_str());
  for (const tessera::ModelValue& output : model.outputs()) std::printf("output %s\n", output.to_string().c_str());
  std::fputs(to_string(model.explain(sizes_of(model, options))).c_str(), stdout);
  return 0;
}

}  // namespace command
