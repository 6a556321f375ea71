#include "core/kernel/custom_call.h"

#include "core/kernel/backend.h"

namespace tessera {

bool has_source_for(const CustomKernel& kernel, const Backend& backend) {
  const ShaderLanguage language = backend.limits().custom_language;
  return language != ShaderLanguage::none && !(language == ShaderLanguage::wgsl ? kernel.wgsl : kernel.glsl).empty();
}

}  // namespace tessera
