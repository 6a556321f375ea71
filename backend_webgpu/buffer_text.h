// WGSL that reads tensors' buffers: input k is the buffer source_k.
#pragma once
#include <string>
#include <string_view>

#include <tessera/dtype.h>

namespace tessera::webgpu {

// How shaders see a buffer: as texels, or as words with one or more elements each.
struct BufferLayout {
  std::string_view texel, word;
  int elements_per_word;
  std::string_view packing;  // names the functions of shaders_wgsl/texel.wgsl; empty where elements are whole words
};
BufferLayout layout_of(DType);

std::string binding(int index, std::string_view access, std::string_view name, std::string_view type);

// element_k(): one element of input k, which is bound as texels or as words.
std::string element_function(const std::string& k, DType, bool is_bound_as_texels);
// Texel `at` of input k, which is bound as texels.
std::string texel_text(const std::string& k, DType, const std::string& at);
// The elements of input k whose indices `at` has.
std::string four_elements(const std::string& k, DType);
// The words of a texel for its four elements.
std::string packed_text(DType, const std::string& value);

}  // namespace tessera::webgpu
