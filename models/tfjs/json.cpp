#include "models/tfjs/json.h"

#include <charconv>
#include <cmath>
#include <limits>

#include <tessera/error.h>

namespace tessera::tfjs {

void fail_reading(const std::string& sentence) { throw Error(ErrorCode::io, sentence); }

const Json* Json::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  for (std::size_t i = count_; i-- > 0;)
    if (children_[2 * i].view() == name) return &children_[2 * i + 1];
  return nullptr;
}

const Json* member(const Json& object, std::string_view name) {
  const Json* value = object.find(name);
  return value && !value->is_null() ? value : nullptr;
}

const Json& needed(const Json& object, std::string_view name) {
  const Json* value = member(object, name);
  if (!value) fail_reading("a '" + std::string(name) + "' is missing.");
  return *value;
}

const Json& list_in(const Json& object, std::string_view name) {
  const Json& list = needed(object, name);
  if (!list.is_array()) fail_reading("its '" + std::string(name) + "' is no list.");
  return list;
}

std::string What::text() const {
  std::string text(words_);
  if (has_name_) text.append(" '").append(name_).append("'");
  return text;
}

std::int64_t whole_number(std::string_view digits, const What& what) {
  std::int64_t result = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  if (error != std::errc{} || end != digits.data() + digits.size()) fail_reading(what.text() + " is no whole number.");
  return result;
}

std::int64_t whole_number(const Json& value, const What& what) {
  if (value.kind() == Json::Kind::whole) return value.whole();
  if (value.kind() == Json::Kind::number) {  // 1.0, as some writers have it
    const double given = value.number();
    if (given == std::trunc(given) && std::fabs(given) < 1e15) return static_cast<std::int64_t>(given);
  }
  return whole_number(value.is_string() ? value.view() : std::string_view(), what);
}

double number(const Json& value, const What& what) {
  if (value.kind() == Json::Kind::number) return value.number();
  if (value.kind() == Json::Kind::whole) return static_cast<double>(value.whole());
  const std::string_view name = value.is_string() ? value.view() : std::string_view();
  if (name == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (name == "Infinity") return std::numeric_limits<double>::infinity();
  if (name == "-Infinity") return -std::numeric_limits<double>::infinity();
  fail_reading(what.text() + " is no number.");
}

std::string_view view(const Json& value, const What& what) {
  if (!value.is_string()) fail_reading(what.text() + " is no text.");
  return value.view();
}

std::string text(const Json& value, const What& what) { return std::string(view(value, what)); }

bool truth(const Json& value, const What& what) {
  if (value.kind() != Json::Kind::truth) fail_reading(what.text() + " is neither true nor false.");
  return value.truth();
}

std::vector<std::int64_t> whole_numbers(const Json& value, const What& what) {
  if (!value.is_array()) fail_reading(what.text() + " is no list.");
  std::vector<std::int64_t> numbers;
  numbers.reserve(value.size());
  for (const Json& element : value) numbers.push_back(whole_number(element, what));
  return numbers;
}

}  // namespace tessera::tfjs
