#include "models/wire.h"

#include <bit>
#include <cstring>

#include <tessera/error.h>

namespace tessera::onnx {

namespace {

[[noreturn]] void fail_reading(const std::string& sentence) { throw Error(ErrorCode::io, sentence); }

void expect_kind(const Field& field, Field::Kind kind) {
  if (field.kind != kind)
    fail_reading("field " + std::to_string(field.number) + " has the wire type " +
                 std::to_string(static_cast<int>(field.kind)) + " where " + std::to_string(static_cast<int>(kind)) +
                 " belongs.");
}

template <class Fixed>
Fixed fixed_at(Bytes bytes) {  // files are little-endian, and so are the machines that tessera runs on
  Fixed value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

template <class Fixed, class Number>
void append_fixed(const Field& field, Field::Kind single, std::vector<Number>& numbers) {
  if (field.kind == single) {
    using Bits = std::conditional_t<sizeof(Fixed) == 4, std::uint32_t, std::uint64_t>;
    numbers.push_back(static_cast<Number>(std::bit_cast<Fixed>(static_cast<Bits>(field.value))));
    return;
  }
  expect_kind(field, Field::Kind::bytes);
  if (field.bytes.size() % sizeof(Fixed) != 0)
    fail_reading("field " + std::to_string(field.number) + " packs " + std::to_string(field.bytes.size()) +
                 " bytes, which are no whole number of elements of " + std::to_string(sizeof(Fixed)) + ".");
  numbers.reserve(numbers.size() + field.bytes.size() / sizeof(Fixed));
  for (Bytes rest = field.bytes; !rest.empty(); rest = rest.subspan(sizeof(Fixed)))
    numbers.push_back(static_cast<Number>(fixed_at<Fixed>(rest)));
}

}  // namespace

std::int64_t Field::integer() const {
  expect_kind(*this, Kind::varint);
  return static_cast<std::int64_t>(value);
}

float Field::number32() const {
  expect_kind(*this, Kind::fixed32);
  return std::bit_cast<float>(static_cast<std::uint32_t>(value));
}

std::string Field::text() const {
  expect_kind(*this, Kind::bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Bytes Field::message() const {
  expect_kind(*this, Kind::bytes);
  return bytes;
}

void Field::append_to(std::vector<std::int64_t>& numbers) const {
  if (kind == Kind::varint) {
    numbers.push_back(static_cast<std::int64_t>(value));
    return;
  }
  expect_kind(*this, Kind::bytes);
  std::uint64_t bits = 0;
  int shift = 0;
  for (const std::byte byte : bytes) {
    if (shift > 63) fail_reading("a packed number in field " + std::to_string(number) + " has no end.");
    bits |= static_cast<std::uint64_t>(byte & std::byte{0x7f}) << shift;
    shift += 7;
    if ((byte & std::byte{0x80}) != std::byte{}) continue;
    numbers.push_back(static_cast<std::int64_t>(bits));
    bits = 0;
    shift = 0;
  }
  if (shift != 0) fail_reading("the last packed number in field " + std::to_string(number) + " has no end.");
}

void Field::append_to(std::vector<float>& numbers) const { append_fixed<float>(*this, Kind::fixed32, numbers); }
void Field::append_to(std::vector<double>& numbers) const { append_fixed<double>(*this, Kind::fixed64, numbers); }

std::uint64_t WireReader::varint() {
  std::uint64_t number = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::byte byte = take(1).front();
    number |= static_cast<std::uint64_t>(byte & std::byte{0x7f}) << shift;
    if ((byte & std::byte{0x80}) == std::byte{}) return number;
  }
  fail_reading("a number of more than 64 bits.");
}

Bytes WireReader::take(std::uint64_t size) {
  if (size > rest_.size())
    fail_reading("something of " + std::to_string(size) + " bytes begins where " + std::to_string(rest_.size()) +
                 " are left.");
  const Bytes taken = rest_.first(static_cast<std::size_t>(size));
  rest_ = rest_.subspan(static_cast<std::size_t>(size));
  return taken;
}

bool WireReader::next(Field& field) {
  if (rest_.empty()) return false;
  const std::uint64_t tag = varint();
  field = {};
  field.number = static_cast<std::uint32_t>(tag >> 3);
  if (field.number == 0 || tag >> 3 > 0x1fffffff)
    fail_reading("a field has the number " + std::to_string(tag >> 3) + ".");
  switch (tag & 7) {
    case 0: field.kind = Field::Kind::varint, field.value = varint(); break;
    case 1: field.kind = Field::Kind::fixed64, field.value = fixed_at<std::uint64_t>(take(8)); break;
    case 2: field.kind = Field::Kind::bytes, field.bytes = take(varint()); break;
    case 5: field.kind = Field::Kind::fixed32, field.value = fixed_at<std::uint32_t>(take(4)); break;
    default:
      fail_reading("field " + std::to_string(field.number) + " has the unknown wire type " + std::to_string(tag & 7) +
                   ".");
  }
  return true;
}

}  // namespace tessera::onnx
