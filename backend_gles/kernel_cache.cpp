#include "backend_gles/kernel_cache.h"

namespace tessera::gles {

Compiled<CompiledKernel> KernelCache::compile(const Kernel& kernel, const Variant& variant) {
  const GladGLES2Context& gl = device_->gl();
  const Compilation compilation(device_->messages());
  const std::string text = fragment_text(kernel, variant);
  CompiledKernel made{link_program(device_, text, "kernel " + kernel.key), -1, -1};
  const GLuint program = made.program.get();
  gl.UseProgram(program);
  for (int input = 0; input < static_cast<int>(kernel.inputs.size()); ++input)
    gl.Uniform1i(gl.GetUniformLocation(program, sampler_name(input).c_str()), input);
  made.words = gl.GetUniformLocation(program, words_name);
  made.output_width = gl.GetUniformLocation(program, output_width_name);
  device_->check("Compiling kernel " + kernel.key);
  device_->label(GL_PROGRAM_KHR, program, kernel.key);
  compilation.succeeded([&] { return "kernel " + label_of(kernel); }, text);
  return {std::move(made), text.size()};
}

const CompiledKernel& KernelCache::get(const Kernel& kernel, const Variant& variant, KernelUses* uses) {
  const std::string key = std::to_string(variant.inputs_in_place) + ' ' + kernel.key;
  return CompiledCache::get(key, uses, [&] { return compile(kernel, variant); });
}

}  // namespace tessera::gles
