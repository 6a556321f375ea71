#include "backend_gles/kernel_cache.h"

namespace tessera::gles {
namespace {

// For people, in errors and debuggers. The key of a pixel kernel is its whole text.
std::string name_of(const Kernel& kernel) { return kernel.key; }
std::string name_of(const PixelKernel& kernel) { return kernel.label; }

}  // namespace

void CompiledKernel::set_words(const GladGLES2Context& gl, std::vector<std::uint32_t> values) const {
  const int vectors = vectors_of_words(narrow<int>(values.size()));
  values.resize(static_cast<std::size_t>(4 * vectors));
  gl.Uniform4iv(words, vectors, reinterpret_cast<const GLint*>(values.data()));
}

template <class AnyKernel>
Compiled<CompiledKernel> KernelCache::compile(const AnyKernel& kernel, const Variant& variant) {
  const GladGLES2Context& gl = device_->gl();
  const Compilation compilation(device_->messages());
  const std::string text = fragment_text(kernel, variant);
  CompiledKernel made{link_program(device_, text, "kernel " + name_of(kernel))};
  const GLuint program = made.program.get();
  gl.UseProgram(program);
  for (int input = 0; input < static_cast<int>(kernel.inputs.size()); ++input)
    gl.Uniform1i(gl.GetUniformLocation(program, sampler_name(input).c_str()), input);
  made.words = gl.GetUniformLocation(program, words_name);
  made.output_width = gl.GetUniformLocation(program, output_width_name);
  made.corner = gl.GetUniformLocation(program, corner_name);
  device_->check("Compiling kernel " + name_of(kernel));
  device_->label(GL_PROGRAM_KHR, program, name_of(kernel));
  compilation.succeeded([&] { return "kernel " + label_of(kernel); }, text);
  return {std::move(made), text.size()};
}

const CompiledKernel& KernelCache::get(const Kernel& kernel, const Variant& variant, KernelUses* uses) {
  const std::string key = std::to_string(variant.inputs_in_place) + ' ' + kernel.key;
  return CompiledCache::get(key, uses, [&] { return compile(kernel, variant); });
}

const CompiledKernel& KernelCache::get(const PixelKernel& kernel, const Variant& variant, KernelUses* uses) {
  return CompiledCache::get(kernel.key, uses, [&] { return compile(kernel, variant); });
}

}  // namespace tessera::gles
