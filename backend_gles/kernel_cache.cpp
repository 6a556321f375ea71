#include "backend_gles/kernel_cache.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace tessera::gles {
namespace {

template <class AnyKernel>
std::string name_of(const AnyKernel& kernel, const Variant& variant) {
  return std::to_string(variant.inputs_in_place) + ' ' + kernel.key.text();
}

}  // namespace

void CompiledKernel::set_words(const GladGLES2Context& gl, std::span<const std::uint32_t> values) const {
  if (std::equal(values.begin(), values.end(), present_words.begin(), present_words.end())) return;
  const int vectors = vectors_of_words(narrow<int>(values.size()));
  present_words.assign(values.begin(), values.end());
  present_words.resize(static_cast<std::size_t>(4 * vectors));
  gl.Uniform4iv(words, vectors, reinterpret_cast<const GLint*>(present_words.data()));
  present_words.resize(values.size());
}

void CompiledKernel::set_input(const GladGLES2Context& gl, std::size_t input, const TextureStorage& texture) const {
  const std::array size{texture.width(), texture.height()};
  if (texel_sizes[input] < 0 || present_sizes[input] == size) return;
  gl.Uniform2f(texel_sizes[input], 1.0f / static_cast<float>(size[0]), 1.0f / static_cast<float>(size[1]));
  present_sizes[input] = size;
}

void CompiledKernel::set_output(const GladGLES2Context& gl, GLsizei width, GLsizei rows, std::int64_t elements,
                                bool flip) const {
  if (flip != present_flip) gl.Uniform1f(is_flipped, flip ? 1.0f : 0.0f);
  present_flip = flip;
  if (width != present_width) gl.Uniform1i(output_width, width);
  if (width != present_width || rows != present_height)
    gl.Uniform2f(viewport_texel, 1.0f / static_cast<float>(width), 1.0f / static_cast<float>(rows));
  const std::int64_t texels = elements / 4;
  if (width != present_width || elements != present_elements)
    gl.Uniform3i(end, narrow<GLint>(texels % width), narrow<GLint>(texels / width), narrow<GLint>(elements % 4));
  present_width = width, present_height = rows, present_elements = elements;
}

void CompiledKernel::set_width(const GladGLES2Context& gl, GLsizei width) const {
  if (width != std::exchange(present_width, width)) gl.Uniform1i(output_width, width);
}

void CompiledKernel::set_corner(const GladGLES2Context& gl, GLint x, GLint y) const {
  const std::array at{x, y};
  if (corner < 0 || at == std::exchange(present_corner, at)) return;
  gl.Uniform2i(corner, x, y);
}

void CompiledKernel::set_part(const GladGLES2Context& gl, std::size_t input, const std::array<GLint, 4>& part) const {
  if (parts[input] < 0 || part == std::exchange(present_parts[input], part)) return;
  gl.Uniform4iv(parts[input], 1, part.data());
}

template <class AnyKernel>
Linking KernelCache::linking(const AnyKernel& kernel, const Variant& variant) const {
  return {device_, fragment_text(kernel, variant), "kernel " + kernel.label};
}

template <class AnyKernel>
Compiled<CompiledKernel> KernelCache::compile(const AnyKernel& kernel, const Variant& variant) {
  const GladGLES2Context& gl = device_->gl();
  auto begun = under_way_.extract(name_of(kernel, variant));
  Linking linked_program = begun ? std::move(begun.mapped()) : linking(kernel, variant);
  auto [linked, is_from_cache] = linked_program.finish();
  CompiledKernel made{std::move(linked)};
  const GLuint program = made.program.get();
  gl.UseProgram(program);
  for (int input = 0; input < static_cast<int>(kernel.inputs.size()); ++input)
    gl.Uniform1i(gl.GetUniformLocation(program, sampler_name(input).c_str()), input);
  made.words = gl.GetUniformLocation(program, words_name);
  made.output_width = gl.GetUniformLocation(program, output_width_name);
  made.viewport_texel = gl.GetUniformLocation(program, viewport_texel_name);
  made.is_flipped = gl.GetUniformLocation(program, is_flipped_name);
  made.end = gl.GetUniformLocation(program, end_name);
  made.corner = gl.GetUniformLocation(program, corner_name);
  for (int input = 0; input < static_cast<int>(kernel.inputs.size()); ++input)
    made.texel_sizes.push_back(gl.GetUniformLocation(program, texel_size_name(input).c_str()));
  made.present_sizes.resize(kernel.inputs.size());
  if constexpr (std::is_same_v<AnyKernel, PixelKernel>)
    for (int input = 0; input < static_cast<int>(kernel.inputs.size()); ++input)
      made.parts.push_back(gl.GetUniformLocation(program, part_name(input).c_str()));
  made.present_parts.resize(made.parts.size());
  device_->check("Compiling kernel " + kernel.label);
  device_->note_new_work();
  device_->label(GL_PROGRAM_KHR, program, "kernel " + kernel.label);
  const std::string& text = linked_program.fragment_text();
  linked_program.compilation().succeeded([&] { return "kernel " + kernel.label; }, text, is_from_cache);
  return {std::move(made), text.size(), is_from_cache};
}

template <class AnyKernel>
const CompiledKernel& KernelCache::get(const AnyKernel& kernel, const Variant& variant, KernelUses* uses) {
  return CompiledCache::get(
      kernel.key, uses, [&] { return compile(kernel, variant); }, variant.inputs_in_place);
}

template <class AnyKernel>
bool KernelCache::get_beside(const AnyKernel& kernel, const Variant& variant, KernelUses* uses) {
  if (!contains(kernel.key, variant.inputs_in_place)) {
    const std::string name = name_of(kernel, variant);
    auto begun = under_way_.find(name);
    if (begun == under_way_.end()) begun = under_way_.emplace(name, linking(kernel, variant)).first;
    if (!begun->second.is_done()) return false;
  }
  get(kernel, variant, uses);
  return true;
}

template const CompiledKernel& KernelCache::get(const Kernel&, const Variant&, KernelUses*);
template const CompiledKernel& KernelCache::get(const PixelKernel&, const Variant&, KernelUses*);
template bool KernelCache::get_beside(const Kernel&, const Variant&, KernelUses*);
template bool KernelCache::get_beside(const PixelKernel&, const Variant&, KernelUses*);

void KernelCache::trim() {
  under_way_.clear();
  CompiledCache::trim();
}

}  // namespace tessera::gles
