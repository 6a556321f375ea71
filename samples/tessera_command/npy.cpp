#include "npy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace command {
namespace {

using tessera::DType;

static_assert(std::endian::native == std::endian::little, "the files have their lowest byte first");

constexpr std::string_view magic = "\x93NUMPY";

// The text after a key of the header, which is a dictionary as Python prints it.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find("'" + std::string(key) + "':");
  if (at == std::string_view::npos) throw std::runtime_error("its header has no '" + std::string(key) + "'");
  return header.substr(at + key.size() + 3);
}

tessera::Shape shape_of(std::string_view header) {
  const std::string_view value = value_of(header, "shape");
  const std::size_t begin = value.find('('), end = value.find(')');
  if (begin == std::string_view::npos || end == std::string_view::npos) throw std::runtime_error("it has no shape");
  std::vector<std::int64_t> sizes;
  std::string digits;
  for (const char c : std::string(value.substr(begin + 1, end - begin - 1)) + ",") {
    if (c >= '0' && c <= '9') digits += c;
    if (c != ',' || digits.empty()) continue;
    sizes.push_back(std::stoll(digits));
    digits.clear();
  }
  return tessera::Shape(sizes);
}

template <class Element>
std::vector<float> numbers_of(std::string_view bytes, std::size_t count) {
  if (bytes.size() < count * sizeof(Element)) throw std::runtime_error("it is cut off");
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof element, sizeof element);
    if constexpr (std::is_same_v<Element, std::int64_t>)
      element = std::clamp<std::int64_t>(element, std::numeric_limits<std::int32_t>::min(),
                                         std::numeric_limits<std::int32_t>::max());
    numbers[i] = static_cast<float>(element);
  }
  return numbers;
}

Elements parsed(std::string_view file) {
  if (!file.starts_with(magic) || file.size() < 12) throw std::runtime_error("it is no .npy file");
  const bool is_first = file[6] == 1;  // the version: the length of the header has two bytes, and four from then on
  std::uint32_t length = 0;
  std::memcpy(&length, file.data() + 8, is_first ? 2 : 4);
  const std::size_t begin = is_first ? 10 : 12;
  if (file.size() < begin + length) throw std::runtime_error("it is cut off");
  const std::string_view header = file.substr(begin, length), bytes = file.substr(begin + length);
  if (value_of(header, "fortran_order").substr(0, 5).find("True") != std::string_view::npos)
    throw std::runtime_error("its first axis is the innermost (fortran_order)");
  Elements elements{shape_of(header), DType::f32, {}};
  const auto count = static_cast<std::size_t>(elements.shape.size());
  const std::string_view type = value_of(header, "descr");
  const std::size_t quote = type.find('\'');
  const std::string_view code = quote == std::string_view::npos ? "" : type.substr(quote + 2, 2);
  struct Kind {
    std::string_view code;
    DType dtype;
    std::vector<float> (*numbers)(std::string_view, std::size_t);
  };
  constexpr Kind kinds[] = {{"f4", DType::f32, numbers_of<float>},         {"f8", DType::f32, numbers_of<double>},
                            {"f2", DType::f16, numbers_of<tessera::half>}, {"i4", DType::i32, numbers_of<std::int32_t>},
                            {"i8", DType::i32, numbers_of<std::int64_t>},  {"i1", DType::i8, numbers_of<std::int8_t>},
                            {"u1", DType::u8, numbers_of<std::uint8_t>},   {"b1", DType::boolean, numbers_of<bool>}};
  const auto kind =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const Kind& each) { return each.code == code; });
  if (kind == std::end(kinds)) throw std::runtime_error("its elements are '" + std::string(code) + "'");
  elements.dtype = kind->dtype;
  elements.numbers = kind->numbers(bytes, count);
  return elements;
}

}  // namespace

tessera::Tensor Elements::on(tessera::Context& context) const { return context.tensor(shape, numbers).cast(dtype); }

Elements read_elements(const tessera::Tensor& tensor) {
  return {tensor.shape(), tensor.dtype(), tensor.cast(DType::f32).read()};
}

Elements read_npy(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path);
  const std::string file{std::istreambuf_iterator<char>(stream), {}};
  try {
    return parsed(file);
  } catch (const std::exception& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

// Floats, whatever the type was: what reads the file finds the same numbers.
void write_npy(const std::string& path, const Elements& elements) {
  std::string shape;
  for (int axis = 0; axis < elements.shape.rank(); ++axis) shape += std::to_string(elements.shape[axis]) + ",";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  header += std::string((64 - (10 + header.size() + 1) % 64) % 64, ' ') + "\n";
  std::ofstream stream(path, std::ios::binary);
  const auto length = static_cast<std::uint16_t>(header.size());
  stream << magic << '\x01' << '\0';
  stream.write(reinterpret_cast<const char*>(&length), sizeof length);
  stream << header;
  stream.write(reinterpret_cast<const char*>(elements.numbers.data()),
               static_cast<std::streamsize>(elements.numbers.size() * sizeof(float)));
  if (!stream.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace command
