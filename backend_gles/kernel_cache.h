// Compiled kernels, by their key and variant.
#pragma once
#include <cstdint>
#include <memory>

#include "backend_gles/program.h"
#include "backend_gles/shader.h"
#include "core/kernel/compiled_cache.h"
#include "core/kernel/kernel.h"

namespace tessera::gles {

struct CompiledKernel {
  Program program;            // its samplers read texture units 0, 1, … in the order of the inputs
  GLint words, output_width;  // where these uniforms are
};

class KernelCache : public CompiledCache<CompiledKernel> {
 public:
  explicit KernelCache(std::shared_ptr<const Device> device) : device_(std::move(device)) {}

  // Compiles where need be; the context is current. Throws compile_failed, and remembers nothing then.
  const CompiledKernel& get(const Kernel&, const Variant&, KernelUses*);

 private:
  Compiled<CompiledKernel> compile(const Kernel&, const Variant&);

  std::shared_ptr<const Device> device_;
};

}  // namespace tessera::gles
