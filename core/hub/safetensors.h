// Reading and writing safetensors files in terms of host memory.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/interop/host_elements.h"
#include <tessera/safetensors.h>

namespace tessera {

struct HostTensor {
  Shape shape;
  DType dtype;
  HostElements elements;
};

struct SafetensorsContents {
  std::map<std::string, HostTensor> tensors;
  std::map<std::string, std::string> metadata;
};
SafetensorsContents read_safetensors(const std::filesystem::path&);

// `elements` is called for one tensor after the other, so that no more than one of them need be in host memory.
struct TensorToWrite {
  std::string name;
  Shape shape;
  DType dtype;
  std::function<HostElements()> elements;
};
void write_safetensors(const std::filesystem::path&, std::vector<TensorToWrite>,
                       const std::map<std::string, std::string>& metadata);

}  // namespace tessera
