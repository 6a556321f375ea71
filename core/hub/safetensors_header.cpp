#include "core/hub/safetensors_header.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/hub/sharing_names.h"

namespace tessera {
namespace {

constexpr std::string_view metadata_name = "__metadata__";

// Takes the parser's events one by one. There is one place for each kind of value, so that whatever else a file has, at
// any depth, ends the parsing where it begins.
class HeaderReader {
 public:
  explicit HeaderReader(SafetensorsHeader& header) : header_(header) {}

  bool start_object(std::size_t) {
    switch (place_) {
      case Place::before: place_ = Place::names; return true;
      case Place::named: place_ = is_metadata_ ? Place::metadata : Place::fields; return true;
      default: unexpected("an object");
    }
  }
  bool end_object() {
    switch (place_) {
      case Place::names: place_ = Place::after; return true;
      case Place::metadata: place_ = Place::names; return true;
      default: break;
    }
    for (const char* field : {"dtype", "shape", "data_offsets"})
      if (!fields_.contains(field)) fail("the tensor " + in_quotes(tensor().name) + " has no " + field);
    place_ = Place::names;
    return true;
  }
  bool key(std::string& name) {
    if (place_ == Place::names) {
      if (!names_.insert(name).second) fail("the header has the name " + in_quotes(name) + " twice");
      is_metadata_ = name == metadata_name;
      fields_.clear();
      if (!is_metadata_) header_.tensors.push_back({.name = std::move(name)});
      place_ = Place::named;
    } else if (place_ == Place::metadata) {
      if (header_.metadata.contains(name)) fail("the metadata has the name " + in_quotes(name) + " twice");
      metadata_key_ = std::move(name);
      place_ = Place::metadata_value;
    } else {
      if (!fields_.insert(name).second)
        fail("the tensor " + in_quotes(tensor().name) + " has " + in_quotes(name) + " twice");
      if (name == "dtype") place_ = Place::dtype;
      else if (name == "shape") place_ = Place::shape;
      else if (name == "data_offsets") place_ = Place::offsets;
      else
        fail("the tensor " + in_quotes(tensor().name) + " has a field " + in_quotes(name) + ", which the format lacks");
    }
    return true;
  }
  bool string(std::string& value) {
    if (place_ == Place::dtype) {
      tensor().dtype = std::move(value);
      place_ = Place::fields;
    } else if (place_ == Place::metadata_value) {
      header_.metadata.emplace(std::move(metadata_key_), std::move(value));
      place_ = Place::metadata;
    } else {
      unexpected("a string");
    }
    return true;
  }
  bool start_array(std::size_t) {
    if (place_ == Place::shape) place_ = Place::in_shape;
    else if (place_ == Place::offsets) place_ = Place::in_offsets;
    else unexpected("an array");
    numbers_.clear();
    return true;
  }
  bool number_unsigned(std::uint64_t value) {
    if (place_ != Place::in_shape && place_ != Place::in_offsets) unexpected("a number");
    numbers_.push_back(value);
    return true;
  }
  bool end_array() {
    if (place_ == Place::in_shape) {
      tensor().shape = std::move(numbers_);
    } else if (numbers_.size() == 2) {
      tensor().begin = numbers_[0];
      tensor().end = numbers_[1];
    } else {
      fail("the data_offsets of " + in_quotes(tensor().name) + " are " + std::to_string(numbers_.size()) +
           " numbers, not 2");
    }
    place_ = Place::fields;
    return true;
  }
  bool number_integer(std::int64_t value) { unexpected("the negative number " + std::to_string(value)); }
  bool number_float(double, const std::string& text) { unexpected("the number " + text.substr(0, 40)); }
  bool null() { unexpected("null"); }
  bool boolean(bool) { unexpected("a boolean"); }
  bool binary(nlohmann::json::binary_t&) { unexpected("binary data"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    const std::string_view text = error.what();  // "[json.exception.parse_error.101] parse error at ..."
    const std::size_t reason = text.find("] ");
    // The parser may quote all of the text that it stumbled over.
    fail("the header is no JSON: " + std::string(text.substr(reason == text.npos ? 0 : reason + 2, 200)));
  }

 private:
  // The place of the parser: what the next value, or the next name, is about.
  enum class Place {
    before,
    names,
    named,
    fields,
    dtype,
    shape,
    in_shape,
    offsets,
    in_offsets,
    metadata,
    metadata_value,
    after
  };

  [[noreturn]] static void fail(const std::string& reason) { throw HeaderError(reason); }
  [[noreturn]] void unexpected(const std::string& what) {
    const auto of_tensor = [&](const char* part) { return part + in_quotes(tensor().name); };
    switch (place_) {
      case Place::named:
        fail((is_metadata_ ? "the metadata" : of_tensor("the tensor ")) + " is " + what + ", not an object");
      case Place::dtype: fail(of_tensor("the dtype of ") + " is " + what + ", not a string");
      case Place::shape: fail(of_tensor("the shape of ") + " is " + what + ", not an array");
      case Place::in_shape: fail(of_tensor("the shape of ") + " has " + what + " in it, not a whole number from 0 on");
      case Place::offsets: fail(of_tensor("the data_offsets of ") + " are " + what + ", not an array");
      case Place::in_offsets:
        fail(of_tensor("the data_offsets of ") + " have " + what + " in them, not a whole number from 0 on");
      case Place::metadata_value: fail("the metadata " + in_quotes(metadata_key_) + " is " + what + ", not a string");
      default: fail("the header is " + what + ", not an object");
    }
  }
  StoredTensor& tensor() { return header_.tensors.back(); }

  SafetensorsHeader& header_;
  Place place_ = Place::before;
  bool is_metadata_ = false;
  std::string metadata_key_;
  std::set<std::string> names_, fields_;
  std::vector<std::uint64_t> numbers_;
};

void require_utf8(const char* what, const std::string& text) {
  if (!is_utf8(text)) throw HeaderError(what + (" " + in_quotes(text)) + " is no UTF-8");
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text) {
  // The format asks for it, and the parser would pass over a byte order mark.
  if (!text.starts_with('{')) throw HeaderError("the header does not begin with {");
  // JSON has no zero bytes, but the parser would end there.
  if (text.find('\0') != text.npos) throw HeaderError("the header is no JSON: it has a zero byte in it");
  SafetensorsHeader header;
  HeaderReader reader(header);
  nlohmann::json::sax_parse(text, &reader);
  return header;
}

std::string write_safetensors_header(const SafetensorsHeader& header) {
  for (const StoredTensor& tensor : header.tensors) require_utf8("the name", tensor.name);
  for (const auto& [name, value] : header.metadata) {
    require_utf8("the name of metadata", name);
    require_utf8("the metadata", value);
  }
  // Written piece by piece: the parser's own objects allocate while they go, which ends the program without memory.
  std::string text = "{";
  const auto add_quoted = [&](const std::string& name) { text += nlohmann::json(name).dump(); };
  const auto add_list = [&](std::string_view name, const auto& values) {
    text += (",\"" + std::string(name)) + "\":[";
    for (bool is_first = true; const auto value : values) {
      text += (is_first ? "" : ",") + std::to_string(value);
      is_first = false;
    }
    text += ']';
  };
  if (!header.metadata.empty()) {
    add_quoted(std::string(metadata_name));
    text += ":{";
    for (const auto& [name, value] : header.metadata) {
      add_quoted(name);
      text += ':';
      add_quoted(value);
      text += ',';
    }
    text.back() = '}';
    text += ',';
  }
  for (const StoredTensor& tensor : header.tensors) {
    add_quoted(tensor.name);
    text += ":{\"dtype\":";
    add_quoted(tensor.dtype);
    add_list("shape", tensor.shape);
    add_list("data_offsets", std::array{tensor.begin, tensor.end});
    text += "},";
  }
  if (text.back() == ',') text.pop_back();
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace tessera
