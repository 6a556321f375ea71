#include "models/tfjs/json.h"

#include <charconv>
#include <cmath>
#include <limits>

#include <tessera/error.h>

namespace tessera::tfjs {

void fail_reading(const std::string& sentence) { throw Error(ErrorCode::io, sentence); }

Json parsed(onnx::Bytes bytes) {
  const char* begin = reinterpret_cast<const char*>(bytes.data());
  try {
    return Json::parse(begin, begin + bytes.size());
  } catch (const Json::exception& error) {
    fail_reading(std::string("it is no JSON: ") + error.what() + ".");
  }
}

const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto place = object.find(name);
  return place == object.end() || place->is_null() ? nullptr : &*place;
}

const Json& needed(const Json& object, const char* name) {
  const Json* found = member(object, name);
  if (!found) fail_reading("a '" + std::string(name) + "' is missing.");
  return *found;
}

const Json& list_in(const Json& object, const char* name) {
  const Json& list = needed(object, name);
  if (!list.is_array()) fail_reading("its '" + std::string(name) + "' is no list.");
  return list;
}

std::int64_t whole_number(const Json& value, const std::string& what) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) fail_reading(what + " is too large.");
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) {  // 1.0, as some writers have it
    const double given = value.get<double>();
    if (given == std::trunc(given) && std::fabs(given) < 1e15) return static_cast<std::int64_t>(given);
  }
  if (value.is_string()) {
    const auto& digits = value.get_ref<const std::string&>();
    std::int64_t result = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
    if (error == std::errc{} && end == digits.data() + digits.size()) return result;
  }
  fail_reading(what + " is no whole number.");
}

double number(const Json& value, const std::string& what) {
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  fail_reading(what + " is no number.");
}

std::string text(const Json& value, const std::string& what) {
  if (!value.is_string()) fail_reading(what + " is no text.");
  return value.get<std::string>();
}

bool truth(const Json& value, const std::string& what) {
  if (!value.is_boolean()) fail_reading(what + " is neither true nor false.");
  return value.get<bool>();
}

std::vector<std::int64_t> whole_numbers(const Json& value, const std::string& what) {
  if (!value.is_array()) fail_reading(what + " is no list.");
  std::vector<std::int64_t> numbers;
  for (const Json& element : value) numbers.push_back(whole_number(element, what));
  return numbers;
}

}  // namespace tessera::tfjs
