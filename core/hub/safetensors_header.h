// The header of a safetensors file, and its JSON text.
#pragma once
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

struct StoredTensor {
  std::string name;
  std::string dtype;  // as in the file: "F32"
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;  // bytes, from the end of the header on
};

struct SafetensorsHeader {
  static constexpr std::uint64_t most_bytes = 100'000'000;

  std::vector<StoredTensor> tensors;
  std::map<std::string, std::string> metadata;
};

// A fault of a header, as the end of a sentence: "the header has the name "x" twice".
struct HeaderError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Checks the form of the text, not that the offsets fit the file or each other.
SafetensorsHeader parse_safetensors_header(std::string_view text);

// Throws HeaderError for text that is no UTF-8. Padded with spaces to a multiple of 8 bytes.
std::string write_safetensors_header(const SafetensorsHeader&);

}  // namespace tessera
