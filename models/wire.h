// Protobuf's wire format, read where it lies: fields in the order of the file, lengths checked before anything is
// taken.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::onnx {

using Bytes = std::span<const std::byte>;

struct Field {
  std::uint32_t number = 0;
  enum class Kind : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 } kind = Kind::varint;
  std::uint64_t value = 0;  // of numbers
  Bytes bytes{};            // of texts, messages and packed numbers

  // Of a field of another kind than the one that is asked for, these are an io error.
  std::int64_t integer() const;
  float number32() const;
  std::string text() const;
  Bytes message() const;
  // Numbers may stand in a field each, or packed into one.
  void append_to(std::vector<std::int64_t>&) const;
  void append_to(std::vector<float>&) const;
  void append_to(std::vector<double>&) const;
};

class WireReader {
 public:
  explicit WireReader(Bytes bytes) : rest_(bytes) {}
  bool next(Field&);  // false at the end

 private:
  std::uint64_t varint();
  Bytes take(std::uint64_t size);
  Bytes rest_;
};

}  // namespace tessera::onnx
