// Compiled kernels, by their key and variant.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend_gles/pixel_shader.h"
#include "backend_gles/program.h"
#include "backend_gles/storage.h"
#include "core/kernel/compiled_cache.h"
#include "core/kernel/kernel.h"

namespace tessera::gles {

struct CompiledKernel {
  Program program;  // its samplers read texture units 0, 1, … in the order of the inputs
  // Where these uniforms are; -1: the text has none.
  GLint words = -1, output_width = -1, viewport_texel = -1, is_flipped = -1, end = -1, corner = -1;
  std::vector<GLint> parts{};        // of the inputs that are a host's, else -1
  std::vector<GLint> texel_sizes{};  // of the inputs that are read in place, else -1
  // What the program has from its last run.
  mutable std::vector<std::uint32_t> present_words{};
  mutable std::vector<std::array<GLsizei, 2>> present_sizes{};  // of the inputs
  mutable GLsizei present_width = 0, present_height = 0;
  mutable std::int64_t present_elements = 0;
  mutable bool present_flip = false;
  mutable std::array<GLint, 2> present_corner{};
  mutable std::vector<std::array<GLint, 4>> present_parts{};  // of the inputs that are a host's

  // While the program is in use.
  void set_words(const GladGLES2Context&, std::span<const std::uint32_t> words) const;
  void set_input(const GladGLES2Context&, std::size_t input, const TextureStorage&) const;
  void set_output(const GladGLES2Context&, GLsizei width, GLsizei rows, std::int64_t elements, bool flip) const;
  // Of a pixel kernel.
  void set_width(const GladGLES2Context&, GLsizei width) const;  // of an output in elements
  void set_corner(const GladGLES2Context&, GLint x, GLint y) const;
  void set_part(const GladGLES2Context&, std::size_t input, const std::array<GLint, 4>& part) const;
};

class KernelCache : public CompiledCache<CompiledKernel> {
 public:
  explicit KernelCache(std::shared_ptr<const Device> device) : device_(std::move(device)) {}

  // These take a Kernel or a PixelKernel.
  //
  // Compiles where need be; the context is current. Throws compile_failed, and remembers nothing then.
  template <class AnyKernel>
  const CompiledKernel& get(const AnyKernel&, const Variant&, KernelUses*);
  // The same, without waiting for a driver that compiles beside its caller: false while that is at work.
  template <class AnyKernel>
  bool get_beside(const AnyKernel&, const Variant&, KernelUses*);
  void trim();

 private:
  template <class AnyKernel>
  Compiled<CompiledKernel> compile(const AnyKernel&, const Variant&);
  template <class AnyKernel>
  Linking linking(const AnyKernel&, const Variant&) const;

  std::shared_ptr<const Device> device_;
  std::unordered_map<std::string, Linking> under_way_;  // those that get_beside() has begun
};

}  // namespace tessera::gles
