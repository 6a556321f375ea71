#include "backend_gles/kernel_cache.h"

namespace tessera::gles {
namespace {

std::string key_of(const Kernel& kernel, const Variant& variant) {
  return std::to_string(variant.inputs_in_place) + ' ' + kernel.key;
}

}  // namespace

Linking KernelCache::linking(const Kernel& kernel, const Variant& variant) const {
  return {device_, fragment_text(kernel, variant), "kernel " + kernel.key};
}

Compiled<CompiledKernel> KernelCache::compile(const std::string& key, const Kernel& kernel, const Variant& variant) {
  const GladGLES2Context& gl = device_->gl();
  auto begun = under_way_.extract(key);
  Linking linked_program = begun ? std::move(begun.mapped()) : linking(kernel, variant);
  auto [linked, is_from_cache] = linked_program.finish();
  CompiledKernel made{std::move(linked), -1, -1};
  const GLuint program = made.program.get();
  gl.UseProgram(program);
  for (int input = 0; input < static_cast<int>(kernel.inputs.size()); ++input)
    gl.Uniform1i(gl.GetUniformLocation(program, sampler_name(input).c_str()), input);
  made.words = gl.GetUniformLocation(program, words_name);
  made.output_width = gl.GetUniformLocation(program, output_width_name);
  device_->check("Compiling kernel " + kernel.key);
  device_->label(GL_PROGRAM_KHR, program, kernel.key);
  const std::string& text = linked_program.fragment_text();
  linked_program.compilation().succeeded([&] { return "kernel " + label_of(kernel); }, text, is_from_cache);
  return {std::move(made), text.size(), is_from_cache};
}

const CompiledKernel& KernelCache::get(const Kernel& kernel, const Variant& variant, KernelUses* uses) {
  const std::string key = key_of(kernel, variant);
  return CompiledCache::get(key, uses, [&] { return compile(key, kernel, variant); });
}

bool KernelCache::get_beside(const Kernel& kernel, const Variant& variant, KernelUses* uses) {
  const std::string key = key_of(kernel, variant);
  if (!contains(key)) {
    auto begun = under_way_.find(key);
    if (begun == under_way_.end()) begun = under_way_.emplace(key, linking(kernel, variant)).first;
    if (!begun->second.is_done()) return false;
  }
  get(kernel, variant, uses);
  return true;
}

void KernelCache::trim() {
  under_way_.clear();
  CompiledCache::trim();
}

}  // namespace tessera::gles
