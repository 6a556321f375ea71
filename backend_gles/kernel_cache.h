// Compiled kernels, by their key and variant.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

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
  // The same, without waiting for a driver that compiles beside its caller: false while that is at work.
  bool get_beside(const Kernel&, const Variant&, KernelUses*);
  void trim();

 private:
  Compiled<CompiledKernel> compile(const std::string& key, const Kernel&, const Variant&);
  Linking linking(const Kernel&, const Variant&) const;

  std::shared_ptr<const Device> device_;
  std::unordered_map<std::string, Linking> under_way_;  // those that get_beside() has begun
};

}  // namespace tessera::gles
