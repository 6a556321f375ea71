// Compiled kernels, by their key and variant.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "backend_gles/pixel_shader.h"
#include "backend_gles/program.h"
#include "core/kernel/compiled_cache.h"
#include "core/kernel/kernel.h"

namespace tessera::gles {

struct CompiledKernel {
  Program program;  // its samplers read texture units 0, 1, … in the order of the inputs
  GLint words = -1, output_width = -1, corner = -1;  // where these uniforms are

  void set_words(const GladGLES2Context&, std::vector<std::uint32_t> words) const;  // while the program is in use
};

class KernelCache : public CompiledCache<CompiledKernel> {
 public:
  explicit KernelCache(std::shared_ptr<const Device> device) : device_(std::move(device)) {}

  // Compiles where need be; the context is current. Throws compile_failed, and remembers nothing then.
  const CompiledKernel& get(const Kernel&, const Variant&, KernelUses*);
  const CompiledKernel& get(const PixelKernel&, const Variant&, KernelUses*);

 private:
  template <class AnyKernel>
  Compiled<CompiledKernel> compile(const AnyKernel&, const Variant&);

  std::shared_ptr<const Device> device_;
};

}  // namespace tessera::gles
