#include "models/elements.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "models/small_floats.h"
#include <tessera/error.h>

namespace tessera::onnx {

namespace {

struct TypeRow {
  Type type;
  const char* name;
  int bits;  // of an element in raw data
  std::optional<DType> dtype;
};
constexpr TypeRow type_rows[] = {
    {Type::undefined, "undefined", 0, {}},
    {Type::float32, "float", 32, DType::f32},
    {Type::uint8, "uint8", 8, DType::u8},
    {Type::int8, "int8", 8, DType::i8},
    {Type::uint16, "uint16", 16, DType::i32},
    {Type::int16, "int16", 16, DType::i32},
    {Type::int32, "int32", 32, DType::i32},
    {Type::int64, "int64", 64, DType::i32},
    {Type::string, "string", 0, {}},
    {Type::boolean, "bool", 8, DType::boolean},
    {Type::float16, "float16", 16, DType::f16},
    {Type::float64, "double", 64, DType::f32},
    {Type::uint32, "uint32", 32, DType::i32},
    {Type::uint64, "uint64", 64, DType::i32},
    {Type::complex64, "complex64", 64, {}},
    {Type::complex128, "complex128", 128, {}},
    {Type::bfloat16, "bfloat16", 16, DType::f32},
    {Type::float8e4m3fn, "float8e4m3fn", 8, DType::f32},
    {Type::float8e4m3fnuz, "float8e4m3fnuz", 8, DType::f32},
    {Type::float8e5m2, "float8e5m2", 8, DType::f32},
    {Type::float8e5m2fnuz, "float8e5m2fnuz", 8, DType::f32},
    {Type::uint4, "uint4", 4, DType::u8},
    {Type::int4, "int4", 4, DType::i8},
};

const TypeRow* row_of(Type type) {
  const auto* row = std::ranges::find(type_rows, type, &TypeRow::type);
  return row == std::end(type_rows) ? nullptr : row;
}

[[noreturn]] void fail_decoding(const TensorProto& tensor, ErrorCode code, const std::string& sentence) {
  throw Error(code, "the tensor '" + tensor.name + "' " + sentence);
}

std::int32_t clamped(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, std::numeric_limits<std::int32_t>::min(),
                                                            std::numeric_limits<std::int32_t>::max()));
}

template <class To>
void put(std::vector<std::byte>& bytes, std::size_t place, To value) {
  std::memcpy(bytes.data() + place * sizeof(To), &value, sizeof value);
}

template <class From>
From raw_at(Bytes raw, std::size_t place) {
  From value;
  std::memcpy(&value, raw.data() + place * sizeof value, sizeof value);
  return value;
}

// Each element of raw data of type From, converted.
template <class From, class Convert>
std::vector<std::byte> converted(Bytes raw, std::size_t count, const Convert& convert) {
  using To = decltype(convert(From{}));
  std::vector<std::byte> bytes(count * sizeof(To));
  for (std::size_t i = 0; i < count; ++i) put(bytes, i, convert(raw_at<From>(raw, i)));
  return bytes;
}

float from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::vector<std::byte> decoded_float8(Bytes raw, std::size_t count, Type type) {
  return converted<std::uint8_t>(raw, count, [type](std::uint8_t bits) { return from_float8(bits, type); });
}

std::vector<std::byte> nibbles(Bytes raw, std::size_t count, bool is_signed) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    const int pair = std::to_integer<int>(raw[i / 2]), nibble = i % 2 == 0 ? pair & 15 : pair >> 4;
    bytes[i] = static_cast<std::byte>(is_signed && nibble > 7 ? nibble - 16 : nibble);
  }
  return bytes;
}

void decode_raw(const TensorProto& tensor, Bytes raw, Elements& elements) {
  const auto count = static_cast<std::size_t>(elements.shape.size());
  const auto expected = (count * static_cast<std::size_t>(row_of(tensor.type)->bits) + 7) / 8;
  if (raw.size() != expected)
    fail_decoding(tensor, ErrorCode::io,
                  "of shape " + elements.shape.to_string() + " and type " + to_string(tensor.type) + " needs " +
                      std::to_string(expected) + " bytes, but has " + std::to_string(raw.size()) + ".");
  switch (tensor.type) {
    case Type::float64:
      elements.converted = converted<double>(raw, count, [](double v) { return static_cast<float>(v); });
      break;
    case Type::bfloat16: elements.converted = converted<std::uint16_t>(raw, count, from_bfloat16); break;
    case Type::float8e4m3fn:
    case Type::float8e4m3fnuz:
    case Type::float8e5m2:
    case Type::float8e5m2fnuz: elements.converted = decoded_float8(raw, count, tensor.type); break;
    case Type::int64: elements.converted = converted<std::int64_t>(raw, count, clamped); break;
    case Type::uint64:
      elements.converted = converted<std::uint64_t>(raw, count, [](std::uint64_t v) {
        return clamped(static_cast<std::int64_t>(std::min<std::uint64_t>(v, 0x7fffffff)));
      });
      break;
    case Type::uint32: elements.converted = converted<std::uint32_t>(raw, count, clamped); break;
    case Type::int16: elements.converted = converted<std::int16_t>(raw, count, clamped); break;
    case Type::uint16: elements.converted = converted<std::uint16_t>(raw, count, clamped); break;
    case Type::boolean:
      elements.converted = converted<std::uint8_t>(raw, count, [](std::uint8_t v) -> std::uint8_t { return v != 0; });
      break;
    case Type::int4:
    case Type::uint4: elements.converted = nibbles(raw, count, tensor.type == Type::int4); break;
    default: elements.bytes = raw; return;  // as it is
  }
  elements.bytes = elements.converted;
}

template <class From>
std::vector<std::byte> dequantized(const TensorProto& tensor, std::size_t count) {
  const Quantization& how = *tensor.quantization;
  const auto number_of = [&](From stored) { return static_cast<double>(stored) * how.scale + how.min; };
  if (tensor.type == Type::float32)
    return converted<From>(*tensor.raw, count, [&](From stored) { return static_cast<float>(number_of(stored)); });
  return converted<From>(*tensor.raw, count, [&](From stored) {
    const double number = std::floor(number_of(stored) + 0.5);
    return std::isfinite(number) ? clamped(static_cast<std::int64_t>(std::clamp(number, -0x1p40, 0x1p40))) : 0;
  });
}

void decode_quantized(const TensorProto& tensor, Elements& elements) {
  const auto count = static_cast<std::size_t>(elements.shape.size());
  switch (tensor.quantization->stored) {
    case Type::uint8: elements.converted = dequantized<std::uint8_t>(tensor, count); break;
    case Type::uint16: elements.converted = dequantized<std::uint16_t>(tensor, count); break;
    default: elements.converted = dequantized<half>(tensor, count); break;
  }
  elements.bytes = elements.converted;
}

template <class To, class From>
std::vector<std::byte> listed(const TensorProto& tensor, const std::vector<From>& numbers, std::size_t count) {
  if (numbers.size() != count)
    fail_decoding(tensor, ErrorCode::io,
                  "needs " + std::to_string(count) + " numbers, but has " + std::to_string(numbers.size()) + ".");
  std::vector<std::byte> bytes(count * sizeof(To));
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<To, std::int32_t>) put(bytes, i, clamped(numbers[i]));
    else put(bytes, i, static_cast<To>(numbers[i]));
  }
  return bytes;
}

void decode_lists(const TensorProto& tensor, Elements& elements) {
  const auto count = static_cast<std::size_t>(elements.shape.size());
  switch (tensor.type) {
    case Type::float32: elements.converted = listed<float>(tensor, tensor.floats, count); break;
    case Type::float64: elements.converted = listed<float>(tensor, tensor.doubles, count); break;
    case Type::float16: elements.converted = listed<std::uint16_t>(tensor, tensor.integers, count); break;
    case Type::int8: elements.converted = listed<std::int8_t>(tensor, tensor.integers, count); break;
    case Type::uint8: elements.converted = listed<std::uint8_t>(tensor, tensor.integers, count); break;
    case Type::boolean: {
      elements.converted = listed<std::uint8_t>(tensor, tensor.integers, count);
      for (std::byte& byte : elements.converted) byte = static_cast<std::byte>(byte != std::byte{});
      break;
    }
    case Type::bfloat16: {
      const std::vector<std::byte> bits = listed<std::uint16_t>(tensor, tensor.integers, count);
      elements.converted = converted<std::uint16_t>(bits, count, from_bfloat16);
      break;
    }
    case Type::float8e4m3fn:
    case Type::float8e4m3fnuz:
    case Type::float8e5m2:
    case Type::float8e5m2fnuz:
      elements.converted = decoded_float8(listed<std::uint8_t>(tensor, tensor.integers, count), count, tensor.type);
      break;
    case Type::int4:
    case Type::uint4:
      elements.converted =
          nibbles(listed<std::uint8_t>(tensor, tensor.integers, (count + 1) / 2), count, tensor.type == Type::int4);
      break;
    default: elements.converted = listed<std::int32_t>(tensor, tensor.integers, count); break;
  }
  elements.bytes = elements.converted;
}

std::uint64_t whole_number(const TensorProto& tensor, const std::string& key, const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    fail_decoding(tensor, ErrorCode::io, "is in another file, with '" + text + "' as its " + key + ".");
  return number;
}

}  // namespace

std::string to_string(Type type) {
  const TypeRow* row = row_of(type);
  return row ? row->name : "type " + std::to_string(static_cast<int>(type));
}

std::optional<DType> dtype_for(Type type) {
  const TypeRow* row = row_of(type);
  return row ? row->dtype : std::nullopt;
}

Shape shape_of(const TensorProto& tensor) {
  if (tensor.dims.size() > static_cast<std::size_t>(Shape::max_rank))
    fail_decoding(tensor, ErrorCode::unsupported,
                  "has " + std::to_string(tensor.dims.size()) + " axes; at most " + std::to_string(Shape::max_rank) +
                      " are possible.");
  for (const std::int64_t size : tensor.dims)
    if (size < 0) fail_decoding(tensor, ErrorCode::io, "has an axis of size " + std::to_string(size) + ".");
  try {
    return Shape(tensor.dims);
  } catch (const Error& error) {
    fail_decoding(tensor, error.code(), std::string("cannot be: ") + error.what());
  }
}

Bytes ExternalFiles::bytes_of(const TensorProto& tensor) {
  const auto entry = [&](const char* key) {
    const auto place = tensor.external.find(key);
    return place == tensor.external.end() ? std::string() : place->second;
  };
  const std::filesystem::path location = entry("location");
  // A model may name files beside and below itself only.
  const bool leaves = std::ranges::any_of(location, [](const std::filesystem::path& part) { return part == ".."; });
  if (location.empty() || location.has_root_path() || leaves)
    fail_decoding(tensor, ErrorCode::io, "is in the file '" + location.string() + "', which is not beside the model.");
  if (folder_.empty())
    fail_decoding(tensor, ErrorCode::io, "is in the file '" + location.string() + "', but the model came from memory.");
  std::unique_ptr<MappedFile>& file = files_[location.string()];
  if (!file) file = std::make_unique<MappedFile>(folder_ / location);
  const std::string offset_text = entry("offset"), length_text = entry("length");
  const std::uint64_t size = file->bytes().size();
  const std::uint64_t offset = offset_text.empty() ? 0 : whole_number(tensor, "offset", offset_text);
  const std::uint64_t length =
      length_text.empty() ? size - std::min(offset, size) : whole_number(tensor, "length", length_text);
  if (offset > size || length > size - offset)
    fail_decoding(tensor, ErrorCode::io,
                  "is in " + location.string() + " from byte " + std::to_string(offset) + " on, " +
                      std::to_string(length) + " bytes, but the file has " + std::to_string(size) + ".");
  return file->bytes().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
}

Bytes stored_elements_of(const TensorProto& tensor, ExternalFiles& files) {
  if (tensor.is_external && !tensor.quantization) return files.bytes_of(tensor);
  if (tensor.raw) return *tensor.raw;
  if (tensor.type == Type::float32) return std::as_bytes(std::span(tensor.floats));
  if (tensor.type == Type::float64) return std::as_bytes(std::span(tensor.doubles));
  return std::as_bytes(std::span(tensor.integers));
}

Elements elements_of(const TensorProto& tensor, ExternalFiles& files) {
  Elements elements;
  elements.shape = shape_of(tensor);
  const std::optional<DType> dtype = dtype_for(tensor.type);
  if (!dtype) fail_decoding(tensor, ErrorCode::unsupported, "has elements of type " + to_string(tensor.type) + ".");
  elements.dtype = *dtype;
  if (tensor.quantization) decode_quantized(tensor, elements);
  else if (tensor.is_external) decode_raw(tensor, files.bytes_of(tensor), elements);
  else if (tensor.raw) decode_raw(tensor, *tensor.raw, elements);
  else decode_lists(tensor, elements);
  return elements;
}

}  // namespace tessera::onnx
