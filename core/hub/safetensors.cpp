#include "core/hub/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>

#include "core/hub/safetensors_header.h"
#include "core/hub/sharing_names.h"
#include "core/platform/replacing_file.h"

namespace tessera {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

[[noreturn]] void refuse(const char* op, ErrorCode code, const std::filesystem::path& path, const std::string& reason) {
  throw Error(code, std::string(op) + ": " + path.string() + ": " + reason + ".");
}

// ---- element types ------------------------------------------------------------------------------------------
template <class T>
T element(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

// Each conversion gives nothing for a number that the smaller type does not have.
std::optional<float> from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
std::optional<float> from_f64(double value) {
  const auto rounded = static_cast<float>(value);
  if (std::isnan(value) || (std::isfinite(value) == std::isfinite(rounded) && rounded == value)) return rounded;
  return {};
}
std::optional<std::int32_t> from_i64(std::int64_t value) {
  if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()) return {};
  return static_cast<std::int32_t>(value);
}
std::optional<std::uint8_t> from_bool(std::uint8_t value) { return value != 0; }

struct NotExact {
  std::size_t index;
  std::string value;
};

template <auto convert, class From>
HostElements converted(std::span<const std::byte> bytes) {
  std::vector<typename decltype(convert(From{}))::value_type> out(bytes.size() / sizeof(From));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const From value = element<From>(bytes, i);
    const auto same = convert(value);
    if (!same) throw NotExact{i, std::to_string(value)};
    out[i] = *same;
  }
  return HostElements(std::move(out));
}

// The types that can be read. A DType is written as the first type that has it.
struct StoredType {
  std::string_view name;
  std::uint64_t bytes;
  DType dtype;
  HostElements (*convert)(std::span<const std::byte>) = nullptr;  // none: the bytes as they are
};
constexpr std::array stored_types{
    StoredType{"F32", 4, DType::f32},
    StoredType{"F16", 2, DType::f16},
    StoredType{"I32", 4, DType::i32},
    StoredType{"I8", 1, DType::i8},
    StoredType{"U8", 1, DType::u8},
    StoredType{"BOOL", 1, DType::boolean, converted<from_bool, std::uint8_t>},
    StoredType{"BF16", 2, DType::f32, converted<from_bf16, std::uint16_t>},
    StoredType{"F64", 8, DType::f32, converted<from_f64, double>},
    StoredType{"I64", 8, DType::i32, converted<from_i64, std::int64_t>},
};

// ---- reading ------------------------------------------------------------------------------------------------
class FileReader {
 public:
  explicit FileReader(const std::filesystem::path& path) : path_(path) {
    refuse_nul("load_safetensors", path);
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::status_known(status) || !std::filesystem::exists(status)) fail(error.message());
    if (!std::filesystem::is_regular_file(status)) fail("this is not a regular file");
    size_ = std::filesystem::file_size(path, error);
    if (error) fail(error.message());
    file_.open(path, std::ios::binary);
    if (!file_) fail(std::strerror(errno));
  }

  SafetensorsContents contents() {
    SafetensorsHeader header = read_header();
    check_offsets(header.tensors);
    SafetensorsContents contents;
    contents.metadata = std::move(header.metadata);
    for (const StoredTensor& stored : header.tensors) contents.tensors.emplace(stored.name, read_tensor(stored));
    return contents;
  }

 private:
  [[noreturn]] void fail(const std::string& reason, ErrorCode code = ErrorCode::io) const {
    refuse("load_safetensors", code, path_, reason);
  }

  void read(std::uint64_t offset, std::span<std::byte> into) {
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
    if (!file_) fail("the file ended, or could not be read, at byte " + std::to_string(offset));
  }

  SafetensorsHeader read_header() {
    if (size_ < 8) fail("the file has " + std::to_string(size_) + " bytes, fewer than the 8 of the header's length");
    std::uint64_t length = 0;
    read(0, std::as_writable_bytes(std::span(&length, 1)));
    if (length > SafetensorsHeader::most_bytes)
      fail("the header is said to have " + std::to_string(length) + " bytes, more than the " +
           std::to_string(SafetensorsHeader::most_bytes) + " there can be");
    if (length > size_ - 8)
      fail("the header is said to have " + std::to_string(length) + " bytes, but the file has only " +
           std::to_string(size_ - 8) + " after its length");
    std::string text(length, '\0');
    read(8, std::as_writable_bytes(std::span(text)));
    data_begin_ = 8 + length;
    try {
      return parse_safetensors_header(text);
    } catch (const HeaderError& error) {
      fail(error.what());
    }
  }

  // Tensors follow each other from the first byte to the last, without holes and without overlap.
  void check_offsets(std::vector<StoredTensor>& tensors) const {
    std::sort(tensors.begin(), tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    const std::uint64_t data_size = size_ - data_begin_;
    const StoredTensor* before = nullptr;
    for (const StoredTensor& tensor : tensors) {
      const std::string which = "the tensor " + in_quotes(tensor.name) + " has data_offsets of " +
                                std::to_string(tensor.begin) + " to " + std::to_string(tensor.end);
      const std::uint64_t expected = before ? before->end : 0;
      if (tensor.begin > tensor.end) fail(which + ", which run backwards");
      if (tensor.end > data_size)
        fail(which + ", but the file has only " + std::to_string(data_size) + " bytes of data");
      if (tensor.begin < expected)
        fail(which + ", which overlap those of " + in_quotes(before->name) + " to " + std::to_string(expected));
      if (tensor.begin > expected) fail(which + ", which leave a hole from " + std::to_string(expected) + " on");
      before = &tensor;
    }
    if (const std::uint64_t end = before ? before->end : 0; end != data_size)
      fail("the tensors end at byte " + std::to_string(end) + " of the data, but the file has " +
           std::to_string(data_size) + " bytes of it");
  }

  static constexpr std::uint64_t highest_size = std::numeric_limits<std::int64_t>::max();

  // Throws where the shape, the type and the bytes between the offsets do not fit.
  Shape checked_shape(const StoredTensor& tensor, const StoredType& type) const {
    std::string text = "[";
    for (const std::uint64_t dim : tensor.shape) text += (text.size() > 1 ? "," : "") + std::to_string(dim);
    if (text.size() > 200) text.resize(200);
    const std::string which = "the tensor " + in_quotes(tensor.name) + " of " + text + "] ";
    if (tensor.shape.size() > Shape::max_rank)
      fail(which + "has " + std::to_string(tensor.shape.size()) + " dimensions, more than the " +
               std::to_string(Shape::max_rank) + " that tensors can have here",
           ErrorCode::unsupported);
    const bool is_empty = std::ranges::find(tensor.shape, 0u) != tensor.shape.end();
    std::uint64_t elements = is_empty ? 0 : 1;
    for (const std::uint64_t dim : tensor.shape) {
      if (!is_empty && elements > std::numeric_limits<std::uint64_t>::max() / type.bytes / dim)
        fail(which + "has more elements than a 64-bit byte count can hold");
      elements *= dim;
    }
    if (tensor.end - tensor.begin != elements * type.bytes)
      fail(which + std::string(type.name) + " takes " + std::to_string(elements * type.bytes) +
           " bytes, but its data_offsets " + std::to_string(tensor.begin) + " to " + std::to_string(tensor.end) +
           " hold " + std::to_string(tensor.end - tensor.begin));
    std::vector<std::int64_t> dims;
    for (const std::uint64_t dim : tensor.shape) dims.push_back(static_cast<std::int64_t>(std::min(dim, highest_size)));
    try {
      return Shape(dims);
    } catch (const Error& error) {
      fail(which + "is none that tessera can have (" + error.what() + ")", ErrorCode::unsupported);
    }
  }

  HostTensor read_tensor(const StoredTensor& stored) {
    const auto type = std::find_if(stored_types.begin(), stored_types.end(),
                                   [&](const StoredType& known) { return known.name == stored.dtype; });
    if (type == stored_types.end())
      fail("the tensor " + in_quotes(stored.name) + " has the type " + in_quotes(stored.dtype) +
               "; F32, F16, BF16, F64, I32, I8, U8, BOOL and I64 can be read",
           ErrorCode::unsupported);
    const Shape shape = checked_shape(stored, *type);
    std::vector<std::byte> bytes(stored.end - stored.begin);
    read(data_begin_ + stored.begin, bytes);
    try {
      return {shape, type->dtype, type->convert ? type->convert(bytes) : HostElements(std::move(bytes))};
    } catch (const NotExact& element) {
      fail("element " + std::to_string(element.index) + " of the tensor " + in_quotes(stored.name) + " is " +
               element.value + ", which as " + std::string(type->name) + " fits, but not as " +
               std::string(to_string(type->dtype)) + ", the type it would be read as",
           ErrorCode::unsupported);
    }
  }

  std::filesystem::path path_;
  std::ifstream file_;
  std::uint64_t size_ = 0, data_begin_ = 0;
};

}  // namespace

SafetensorsContents read_safetensors(const std::filesystem::path& path) { return FileReader(path).contents(); }

// ---- writing ------------------------------------------------------------------------------------------------
void write_safetensors(const std::filesystem::path& path, std::vector<TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata) {
  // Large elements come first, so that each tensor is aligned to its own.
  std::sort(tensors.begin(), tensors.end(), [](const TensorToWrite& a, const TensorToWrite& b) {
    return std::pair(size_of(b.dtype), std::string_view(a.name)) <
           std::pair(size_of(a.dtype), std::string_view(b.name));
  });
  SafetensorsHeader header{.tensors = {}, .metadata = metadata};
  std::uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    if (tensor.name == "__metadata__")
      refuse("save_safetensors", ErrorCode::invalid_argument, path, "no tensor can have the name \"__metadata__\"");
    const auto type = std::find_if(stored_types.begin(), stored_types.end(),
                                   [&](const StoredType& known) { return known.dtype == tensor.dtype; });
    const std::uint64_t end = offset + static_cast<std::uint64_t>(tensor.shape.size()) * type->bytes;
    const auto dims = tensor.shape.dims();
    header.tensors.push_back({tensor.name, std::string(type->name), {dims.begin(), dims.end()}, offset, end});
    offset = end;
  }
  std::string text;
  try {
    text = write_safetensors_header(header);
  } catch (const HeaderError& error) {
    refuse("save_safetensors", ErrorCode::invalid_argument, path, error.what());
  }
  const std::uint64_t length = text.size();
  if (length > SafetensorsHeader::most_bytes)
    refuse("save_safetensors", ErrorCode::invalid_argument, path,
           "the names and shapes take " + std::to_string(length) + " bytes, more than the " +
               std::to_string(SafetensorsHeader::most_bytes) + " that a header can have");

  ReplacingFile file("save_safetensors", path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(text)));
  for (const TensorToWrite& tensor : tensors) {
    try {
      file.write(tensor.elements().bytes());
    } catch (const Error& error) {
      throw Error(error.code(), "save_safetensors: the tensor \"" + tensor.name + "\": " + error.what());
    }
  }
  file.commit();
}

Safetensors load_safetensors(Context& context, const std::filesystem::path& path) {
  SafetensorsContents contents = read_safetensors(path);
  Safetensors file{.tensors = {}, .metadata = std::move(contents.metadata)};
  while (!contents.tensors.empty()) {  // one by one, since each is copied
    const auto [name, host] = *contents.tensors.begin();
    contents.tensors.erase(contents.tensors.begin());
    file.tensors.emplace(name, context.tensor(host.shape, host.dtype, host.elements.bytes()));
  }
  return file;
}

void save_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<TensorToWrite> to_write;
  for (const auto& [name, tensor] : tensors)
    to_write.push_back({name, tensor.shape(), tensor.dtype(), [&tensor = tensor] { return read_elements(tensor); }});
  write_safetensors(path, std::move(to_write), metadata);
}

}  // namespace tessera
