// Compiled kernels, by their keys.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "backend_gles/program.h"
#include "backend_gles/shader.h"
#include "core/kernel.h"

namespace tessera::gles {

struct CompiledKernel {
  Program program;            // its samplers read texture units 0, 1, … in the order of the inputs
  GLint words, output_width;  // where these uniforms are
};

class KernelCache {
 public:
  explicit KernelCache(std::shared_ptr<const Device> device) : device_(std::move(device)) {}

  // Compiles at the first use of a key in a variant; the context is current. Throws compile_failed with the driver's
  // log.
  const CompiledKernel& get(const Kernel&, const Variant&);

  std::uint64_t compiled() const { return compiled_; }  // so far

 private:
  CompiledKernel compile(const Kernel&, const Variant&);

  std::shared_ptr<const Device> device_;
  std::map<std::pair<std::string, std::uint32_t>, CompiledKernel> kernels_;  // by key and inputs_in_place
  std::uint64_t compiled_ = 0;
};

}  // namespace tessera::gles
