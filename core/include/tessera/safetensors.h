// Tensors in files of the safetensors format, which most tools around models read and write.
//
//   tessera::save_safetensors("model.safetensors", {{"weight", weight}, {"bias", bias}});
//   auto file = tessera::load_safetensors(gpu, "model.safetensors");
//   tessera::Tensor weight = file.tensors.at("weight");
//
// Files are not trusted: one that breaks the format (lengths, offsets that overlap or leave holes, names that occur
// twice, text that is no UTF-8) is an io error with the path and the reason, before memory is taken for it.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include <tessera/context.h>

namespace tessera {

struct Safetensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

// F32, F16, I32, I8, U8 and BOOL keep their type; BF16 and F64 become f32 and I64 becomes i32. Other types, and numbers
// of F64 and I64 that the smaller type does not have, are unsupported. Values are uploaded when first needed.
TESSERA_API Safetensors load_safetensors(Context&, const std::filesystem::path&);

// Computes and reads the tensors. A file that was there stays whole until the new one is complete, which has its mode;
// links are written through. Writing to anything but a regular file, such as a device, is an io error.
TESSERA_API void save_safetensors(const std::filesystem::path&, const std::map<std::string, Tensor>& tensors,
                                  const std::map<std::string, std::string>& metadata = {});

}  // namespace tessera
