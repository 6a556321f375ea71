// NumPy's .npy files: tensors with their shapes and types, as Python writes and reads them.
#pragma once
#include <string>
#include <vector>

#include <tessera/tessera.h>

namespace command {

// Elements on the host. Integers of 64 bits are clamped into 32, doubles become floats.
struct Elements {
  tessera::Shape shape;
  tessera::DType dtype;
  std::vector<float> numbers;  // whatever the type: all but large i32 are exact

  tessera::Tensor on(tessera::Context&) const;
};

Elements read_elements(const tessera::Tensor&);

// Each throws std::runtime_error that names the file and the reason.
Elements read_npy(const std::string& path);
void write_npy(const std::string& path, const Elements&);

}  // namespace command
